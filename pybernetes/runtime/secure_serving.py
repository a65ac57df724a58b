"""A component's pages over TLS, for those whom the API server lets see them."""

from __future__ import annotations

import argparse
import asyncio
import ssl
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from pybernetes.api import feature_gates, version
from pybernetes.api.resource import Object
from pybernetes.api.zpages import flags_of
from pybernetes.client.client import Client
from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.lib.tls import ciphers
from pybernetes.lib.tls.serving_certificates import CABundle, KeyPair, ServingCertificates, own_pair
from pybernetes.runtime.aggregated_api import request_header_config
from pybernetes.runtime.aggregated_api.request_header_config import Trusted
from pybernetes.runtime.component_server import configz_of, profiles, zpages_of
from pybernetes.runtime.delegated_auth import DelegatedAuth, FrontProxy
from pybernetes.runtime.manager import Manager

# Files of certificates are read again when others change, so they stay as long as the process does.
_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []
# The loop itself holds tasks only weakly.
_TASKS: set[asyncio.Task[None]] = set()


class LaterBundle(CABundle):
    """Authorities of a file that is yet to come: nobody is trusted meanwhile."""

    def read(self) -> None:
        """Read the file if it is there."""
        if self.path.exists():
            super().read()


async def serve(
    manager: Manager, options: argparse.Namespace, name: str, client: Client, *, look_up: bool = False,
    configz: Mapping[str, Object] = MappingProxyType({}),
) -> int:  # fmt: skip
    """Serve what a manager shows, by the flags of ``options``; return the port. ``configz`` is what that page has.

    The API server is asked with ``client`` about callers, and with ``look_up`` also for the authorities of their
    certificates, unless the flags name them. It may answer later: this never waits for it.
    """
    trust = trusted(options)
    auth = DelegatedAuth(
        client, allowed=options.authorization_always_allow_paths, clients=trust.clients, proxy=trust.proxy
    )
    bundles = trust.bundles
    if look_up and trust.clients is None:
        folder = _folder(name)
        bundles = [LaterBundle(file) for file in request_header_config.files(folder)]
        auth.trust(bundles[0], trust.proxy)
        task = asyncio.create_task(
            request_header_config.follow(client, folder, auth), name="client-ca-lookup"
        )
        _TASKS.add(task)
        task.add_done_callback(_TASKS.discard)
    context = tls_context(options, name, bundles)
    gates = feature_gates.of_component(name, getattr(options, "feature_gates", ()))

    def tell(text: Exposition) -> None:
        version.render(text)
        feature_gates.render(gates, text)
        manager.write_running(text, name)

    manager.metrics.more.append(tell)
    manager.metrics.native_histograms = gates[feature_gates.NATIVE_HISTOGRAMS]
    more = zpages_of(
        name,
        flags_of(options),
        ("/healthz", "/livez", "/metrics", "/readyz", *(("/configz",) if configz else ())),
    )
    if configz:
        more |= configz_of(configz)
    if options.profiling:
        more |= profiles()
    return await manager.serve(options.bind_address, options.secure_port, context, auth, more)


def _folder(name: str) -> Path:
    """Return a folder of this process alone."""
    _FOLDERS.append(tempfile.TemporaryDirectory(prefix=f"{name}-"))
    return Path(_FOLDERS[-1].name)


def trusted(options: argparse.Namespace) -> Trusted:
    """Return whom the flags say to trust."""
    clients = CABundle(Path(options.client_ca_file)) if options.client_ca_file else None
    proxy = None
    if options.requestheader_client_ca_file:
        proxy = FrontProxy(
            CABundle(Path(options.requestheader_client_ca_file)),
            options.requestheader_allowed_names,
            options.requestheader_username_headers,
            options.requestheader_uid_headers,
            options.requestheader_group_headers,
            options.requestheader_extra_headers_prefix,
        )
    return Trusted(clients, proxy)


def tls_context(options: argparse.Namespace, name: str, bundles: Sequence[CABundle]) -> ssl.SSLContext:
    """Return the TLS context to serve with; a certificate is made if none is given."""
    if options.tls_cert_file:
        pair = KeyPair(Path(options.tls_cert_file), Path(options.tls_private_key_file))
    else:
        directory = Path(options.cert_dir) if options.cert_dir else _folder(name)
        directory.mkdir(parents=True, exist_ok=True)
        address = "127.0.0.1" if options.bind_address in ("0.0.0.0", "::") else options.bind_address
        pair, _ = own_pair(directory, ("localhost", address), name)
    return ServingCertificates(
        pair,
        bundles=bundles,
        ciphers=ciphers.openssl_list(options.tls_cipher_suites),
        minimum=ciphers.minimum_version(options.tls_min_version),
    ).context
