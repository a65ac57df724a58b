"""How a component shows its health and metrics: over TLS, to those whom the API server lets see them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from pybernetes.lib.flags import Flag
from pybernetes.lib.tls import ciphers

if TYPE_CHECKING:
    from pybernetes.api.resource import Object
    from pybernetes.client.kubeconfig import Config
    from pybernetes.runtime import Manager
    from pybernetes.runtime.aggregated_api.request_header_config import Trusted
    from pybernetes.runtime.delegated_auth import DelegatedAuth


def serving_flags(port: int) -> tuple[Flag, ...]:
    """Return the flags of a component that serves on a port by default."""
    return (
        Flag("bind-address", "0.0.0.0", "address to serve health and metrics at"),
        Flag("secure-port", port, "port to serve them at; 0 serves nothing"),
        Flag("port", 0, "there is no port without TLS: only 0 is taken"),
        Flag("cert-dir", "", "where a self-signed certificate is kept; by default it is made anew at each start"),
        Flag("tls-cert-file", "", "certificate to serve with; a new one is used as soon as the file has it"),
        Flag("tls-private-key-file", "", "its key"),
        Flag("tls-cipher-suites", (), f"suites to accept: {', '.join(sorted(ciphers.PREFERRED))}"),
        Flag("tls-min-version", "", f"oldest version of TLS to accept: {', '.join(sorted(ciphers.VERSIONS))}"),
        Flag("client-ca-file", "", "callers with a certificate of these authorities are known"),
        Flag("requestheader-client-ca-file", "", "authorities of the proxies that may name users in headers"),
        Flag("requestheader-allowed-names", (), "common names of such proxies; any if empty"),
        Flag("requestheader-username-headers", ("x-remote-user",), "headers that may name the user"),
        Flag("requestheader-uid-headers", (), "headers that may hold the user's UID"),
        Flag("requestheader-group-headers", ("x-remote-group",), "headers that name groups"),
        Flag("requestheader-extra-headers-prefix", ("x-remote-extra-",), "prefixes of headers with more about the user"),
        Flag("authentication-kubeconfig", "", "how to ask the API server who a caller is, and whose certificates it trusts"),
        Flag("authorization-kubeconfig", "", "how to ask the API server whether a caller may look"),
        Flag("authorization-always-allow-paths", ("/healthz", "/readyz", "/livez"), "paths that anybody may look at"),
        Flag("profiling", True, "serve /debug/pprof/: samples of the processor's time, memory, tasks"),
    )  # fmt: skip


def check(options: argparse.Namespace) -> None:
    """Raise ValueError for what cannot be served."""
    if options.port:
        raise ValueError("--port: there is no port without TLS, only 0 is taken; see --secure-port")
    ciphers.openssl_list(options.tls_cipher_suites)
    ciphers.minimum_version(options.tls_min_version)


def asked(options: argparse.Namespace, kubeconfig: str) -> Config:
    """Return how the API server is asked about callers."""
    from pybernetes.client import kubeconfig as config

    return config.load(
        options.authorization_kubeconfig or options.authentication_kubeconfig or kubeconfig or None
    )


def delegated_auth(options: argparse.Namespace, name: str, kubeconfig: str, trust: Trusted) -> DelegatedAuth:
    """Return what asks the API server who a caller is and what it may see."""
    from pybernetes.runtime.delegated_auth import DelegatedAuth

    return DelegatedAuth(
        asked(options, kubeconfig).client(user_agent=name),
        allowed=options.authorization_always_allow_paths,
        clients=trust.clients,
        proxy=trust.proxy,
    )


async def serve(
    manager: Manager,
    options: argparse.Namespace,
    name: str,
    kubeconfig: str,
    configz: Mapping[str, Object] = MappingProxyType({}),
) -> int:
    """Serve what a manager shows; return the port. ``configz`` is what that page has."""
    from pybernetes.runtime import secure_serving

    access = asked(options, kubeconfig)
    look_up = bool(options.authentication_kubeconfig)
    client = access.client(user_agent=name)
    return await secure_serving.serve(manager, options, name, client, look_up=look_up, configz=configz)
