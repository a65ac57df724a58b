"""Whom the API server says to trust: the ConfigMap extension-apiserver-authentication, followed as it changes."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import CONFIG_MAPS
from pybernetes.lib.tls import tls
from pybernetes.lib.tls.serving_certificates import CABundle
from pybernetes.runtime.delegated_auth import DelegatedAuth, FrontProxy
from pybernetes.runtime.informer import Informer

log = logging.getLogger(__name__)
NAMESPACE, NAME = "kube-system", "extension-apiserver-authentication"
_CLIENTS, _PROXIES = "client-ca-file", "requestheader-client-ca-file"


@dataclass(frozen=True, slots=True)
class Trusted:
    """Authorities of clients, and the proxies that may name users in headers."""

    clients: CABundle | None = None
    proxy: FrontProxy | None = None

    @property
    def bundles(self) -> list[CABundle]:
        """All authorities whose certificates a client may show."""
        bundles = (self.clients, self.proxy.authorities if self.proxy is not None else None)
        return [bundle for bundle in bundles if bundle is not None]


def files(directory: Path) -> list[Path]:
    """Return the files that the authorities of clients and of proxies are kept in."""
    return [directory / f"{key}.crt" for key in (_CLIENTS, _PROXIES)]


def read(data: Object, directory: Path) -> Trusted:
    """Write the authorities of the ConfigMap's data to files of a directory; ValueError if one cannot be read."""
    bundles: dict[str, CABundle | None] = {}
    for key, file in zip((_CLIENTS, _PROXIES), files(directory), strict=True):
        bundles[key] = None
        if data.get(key):
            tls.write_atomically(file, data[key].encode())
            bundles[key] = CABundle(file)
    authorities = bundles[_PROXIES]
    if authorities is None:
        return Trusted(bundles[_CLIENTS])
    proxy = FrontProxy(
        authorities,
        _names(data, "allowed-names"),
        _names(data, "username-headers"),
        _names(data, "uid-headers"),
        _names(data, "group-headers"),
        _names(data, "extra-headers-prefix"),
    )
    return Trusted(bundles[_CLIENTS], proxy)


def _names(data: Object, key: str) -> list[str]:
    names = json.loads(data.get(f"requestheader-{key}") or "[]")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"requestheader-{key} is no list of texts")
    return names


async def look_up(client: Client, directory: Path) -> Trusted:
    """Return whom the cluster says to trust; nobody if it says nothing."""
    try:
        config = await client.get(CONFIG_MAPS, NAME, NAMESPACE)
    except NotFound:
        return Trusted()
    return read(config.get("data") or {}, directory)


async def follow(
    client: Client, directory: Path, auth: DelegatedAuth, clients: CABundle | None = None
) -> None:
    """Keep up with the ConfigMap until cancelled; ``clients`` are trusted instead of those that it names."""

    def changed(old: Object | None, new: Object | None) -> None:
        if new is None:
            return  # an API server that comes back writes it again
        try:
            trusted = read(new.get("data") or {}, directory)
        except (ValueError, OSError) as error:
            log.warning("ConfigMap %s/%s is not used: %s", NAMESPACE, NAME, error)
            return
        auth.trust(clients or trusted.clients, trusted.proxy)

    informer = Informer(client, CONFIG_MAPS, NAMESPACE, fields=f"metadata.name={NAME}")
    informer.add_handler(changed)
    await informer.run()
