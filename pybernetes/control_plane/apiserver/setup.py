"""From the command line to the parts of a server."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path

from pybernetes.control_plane.apiserver import gate
from pybernetes.control_plane.apiserver.admission.plugins.default_toleration_seconds import (
    NOT_READY,
    UNREACHABLE,
)
from pybernetes.control_plane.apiserver.admission.select import select
from pybernetes.control_plane.apiserver.authn import certificates
from pybernetes.control_plane.apiserver.authn.token_file import TokenFile
from pybernetes.control_plane.apiserver.authz import modes
from pybernetes.control_plane.apiserver.authz.verdict import Mode
from pybernetes.control_plane.apiserver.kinds import stamp
from pybernetes.control_plane.apiserver.server import Settings
from pybernetes.control_plane.apiserver.services.options import ServiceOptions
from pybernetes.control_plane.store.open import open_store
from pybernetes.control_plane.store.protocol import Store
from pybernetes.lib import network, tls
from pybernetes.lib.discover import discover

log = logging.getLogger(__name__)


def store(arguments: argparse.Namespace) -> Store:
    """The store that the flags choose."""
    backend = arguments.storage_backend or ("etcd3" if arguments.etcd_servers else "sqlite")
    if backend == "memory":
        return open_store("memory", stamp=stamp)
    if backend == "sqlite":
        data_dir = arguments.data_dir or "/var/lib/pybernetes"
        return open_store("sqlite", data_dir=Path(data_dir), stamp=stamp)
    if not arguments.etcd_servers:
        raise ValueError("--storage-backend=etcd3 needs --etcd-servers")
    if arguments.etcd_prefix.rstrip("/") != "/registry":
        raise ValueError("--etcd-prefix: only /registry is supported")
    return open_store(
        "etcd3", stamp=stamp, etcd_servers=arguments.etcd_servers.split(","), etcd_cafile=arguments.etcd_cafile,
        etcd_certfile=arguments.etcd_certfile, etcd_keyfile=arguments.etcd_keyfile,
    )  # fmt: skip


def settings(arguments: argparse.Namespace) -> Settings:
    """Everything else that the flags say."""
    result = Settings(host=arguments.bind_address, port=arguments.secure_port)
    result.advertise_address = advertised(arguments)
    result.services = ServiceOptions.parse(
        arguments.service_cluster_ip_range, arguments.service_node_port_range
    )
    result.anonymous = arguments.anonymous_auth == "true"
    certificate, key, authority = _certificates(arguments, result.advertise_address)
    result.context = tls.server_context(certificate, key, client_ca=arguments.client_ca_file or authority)
    authenticators: list[gate.Authenticator] = [certificates.authenticate]
    if arguments.token_auth_file:
        authenticators.append(TokenFile(Path(arguments.token_auth_file)).authenticate)
    result.authenticators = authenticators
    result.authorizers = authorization_modes(arguments.authorization_mode)
    seconds = {
        NOT_READY: arguments.default_not_ready_toleration_seconds,
        UNREACHABLE: arguments.default_unreachable_toleration_seconds,
    }
    result.admission = select(
        arguments.enable_admission_plugins,
        arguments.disable_admission_plugins,
        arguments.admission_control_config_file,
        {"DefaultTolerationSeconds": seconds},
    )
    if result.anonymous and "AlwaysAllow" in arguments.authorization_mode.split(","):
        log.warning(
            "clients without credentials are refused, because AlwaysAllow would let them do everything"
        )
        result.anonymous = False
    return result


def authorization_modes(flag: str) -> list[Mode]:
    """The authorizers of ``--authorization-mode`` in their order."""
    known: dict[str, Mode] = discover(f"{modes.__name__}", "Mode", key=lambda mode: mode.name)
    chosen = [name.strip() for name in flag.split(",") if name.strip()]
    if not chosen:
        raise ValueError("--authorization-mode: at least one authorization mode must be passed")
    for name in chosen:
        if name not in known:
            raise ValueError(
                f"--authorization-mode: {name} is not supported; choose from {', '.join(sorted(known))}"
            )
        if chosen.count(name) > 1:
            raise ValueError(f"--authorization-mode: {name} is there more than once")
    return [known[name] for name in chosen]


def advertised(arguments: argparse.Namespace) -> str:
    """The address that others reach this server at."""
    if arguments.advertise_address:
        return arguments.advertise_address
    if arguments.bind_address not in ("0.0.0.0", "::", ""):
        return arguments.bind_address
    return network.default_address()


def _certificates(arguments: argparse.Namespace, address: str) -> tuple[Path, Path, Path | None]:
    """The serving certificate, its key and the authority that made them, made here when none is given."""
    if arguments.tls_cert_file or arguments.tls_private_key_file:
        if not (arguments.tls_cert_file and arguments.tls_private_key_file):
            raise ValueError("--tls-cert-file and --tls-private-key-file go together")
        return Path(arguments.tls_cert_file), Path(arguments.tls_private_key_file), None
    names = ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
             "kubernetes.default.svc.cluster.local", "127.0.0.1", "::1", address]  # fmt: skip
    if arguments.external_hostname:
        names.append(arguments.external_hostname)
    services = ServiceOptions.parse(arguments.service_cluster_ip_range, arguments.service_node_port_range)
    names += [each.address(each.first) for each in services.ranges]
    return tls.ensure_serving(Path(arguments.cert_dir), names)
