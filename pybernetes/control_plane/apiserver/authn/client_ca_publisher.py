"""The ConfigMap kube-system/extension-apiserver-authentication: tells other servers whom this one trusts, and how.

Several servers may write it: each adds what it knows and drops what has expired.
"""

from __future__ import annotations

import datetime
import json
import re
import ssl
from collections.abc import Sequence
from dataclasses import dataclass

from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.storage.damage import left_alone
from pybernetes.control_plane.apiserver.storage.ensure import ensure
from pybernetes.control_plane.apiserver.storage.modify import KEEP, Outcome, modify
from pybernetes.control_plane.apiserver.storage.retrying_sync import RetryingSync
from pybernetes.lib.tls.serving_certificates import CABundle

NAMESPACE, NAME = "kube-system", "extension-apiserver-authentication"
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)
_SLACK = 300.0


@dataclass(frozen=True, slots=True)
class ClientAuthorities:
    """Whom a server trusts: authorities of clients and of front proxies, and how proxies name users."""

    clients: CABundle | None = None
    proxies: CABundle | None = None
    names: Sequence[str] = ()
    username_headers: Sequence[str] = ()
    uid_headers: Sequence[str] = ()
    group_headers: Sequence[str] = ()
    extra_prefixes: Sequence[str] = ()


def combined(existing: dict[str, str], trust: ClientAuthorities, now: float) -> dict[str, str]:
    """Return the data of the ConfigMap: what is there and what this server adds."""
    data: dict[str, str] = {}
    clients = _certificates(existing.get("client-ca-file", ""), trust.clients, now)
    if clients:
        data["client-ca-file"] = clients
    proxies = _certificates(existing.get("requestheader-client-ca-file", ""), trust.proxies, now)
    if not proxies:
        return data
    data["requestheader-client-ca-file"] = proxies
    lists = {
        "requestheader-allowed-names": trust.names,
        "requestheader-extra-headers-prefix": trust.extra_prefixes,
        "requestheader-group-headers": trust.group_headers,
        "requestheader-username-headers": trust.username_headers,
        "requestheader-uid-headers": trust.uid_headers,
    }
    for key, ours in lists.items():
        together = list(dict.fromkeys([*_names(existing.get(key, "")), *ours]))
        if together or key != "requestheader-uid-headers":
            data[key] = json.dumps(together, separators=(",", ":"))
    return data


def _names(text: str) -> list[str]:
    try:
        names = json.loads(text or "[]")
    except ValueError:
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _certificates(existing: str, bundle: CABundle | None, now: float) -> str:
    """Return certificates in PEM: those that are there, then ours, without doubles and expired ones."""
    from cryptography import x509

    listed: list[bytes] = []
    for block in _CERTIFICATE.findall(existing):
        try:
            listed.append(ssl.PEM_cert_to_DER_cert(block))
        except ValueError:
            continue
    listed += bundle.certificates if bundle is not None else ()
    oldest = datetime.datetime.fromtimestamp(now - _SLACK, datetime.UTC)
    kept = []
    for certificate in dict.fromkeys(listed):
        try:
            if x509.load_der_x509_certificate(certificate).not_valid_after_utc > oldest:
                kept.append(ssl.DER_cert_to_PEM_cert(certificate))
        except ValueError:
            continue
    return "".join(kept)


class ClientCAPublisher:
    """Keeps the ConfigMap in step with the trust of this server."""

    def __init__(self, context: ServerContext, trust: ClientAuthorities) -> None:
        self._context, self._trust = context, trust
        self._kind = context.kinds.find("", "configmaps")
        self._key = self._kind.key(NAMESPACE, NAME)
        self._retrying_sync = RetryingSync(self.sync, "publish whom this server trusts")

    async def start(self) -> None:
        """Write the ConfigMap, then follow it and the authorities."""
        with left_alone():
            await self.sync()
        self._retrying_sync.follow(self._context.store, [self._key])
        self._retrying_sync.start()

    def changed(self) -> None:
        """Say that the trust may have changed."""
        self._retrying_sync.ask()

    async def sync(self) -> None:
        """Write the ConfigMap unless it is as it should be."""
        data = combined({}, self._trust, self._context.clock())
        await ensure(self._context, "", "configmaps", NAMESPACE, {"metadata": {"name": NAME}, "data": data})

        def change(config_map: Object | None) -> Object | Outcome:
            if config_map is None:
                return KEEP  # its deletion asks for another look
            before = config_map.get("data") or {}
            data = combined(before, self._trust, self._context.clock())
            return KEEP if data == before else {**config_map, "data": data}

        await modify(self._context.store, self._kind, self._key, change)

    async def close(self) -> None:
        """Stop following."""
        await self._retrying_sync.close()
