"""dashboard: serve the dashboard of a cluster on this machine, or in a pod."""

from __future__ import annotations

import argparse
import ipaddress
import os
import re
import ssl
from pathlib import Path
from typing import TYPE_CHECKING

from pybernetes.cmd import _program

if TYPE_CHECKING:
    from pybernetes.client.openid import OpenIdProvider
    from pybernetes.tools.dashboard.server import DashboardServer

SUMMARY = "Serve the dashboard of a cluster on this machine, and print the link that opens it"
_LAST_PORT = 65535
# A name or an address, those with colons in brackets, and perhaps a port.
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9](?:[-.A-Za-z0-9]*[A-Za-z0-9])?)(?::\d{1,5})?")
_AUTHORITY = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt"


def main(argv: list[str]) -> int:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser(prog="pyb dashboard", description=SUMMARY, allow_abbrev=False)
    parser.add_argument(
        "--kubeconfig", default="", help="file that says where the API server is and who this is"
    )
    parser.add_argument("--context", default="", help="context of the kubeconfig to begin with")
    parser.add_argument("--address", default="", help="loopback address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, default=0, help="port to listen on (default: one that is free)")
    parser.add_argument(
        "--host",
        action="append",
        default=[],
        help="name to be asked under, with a port if that is another than --port; may be given several times (default: one "
        "below localhost that nobody can guess, so that no other server of this machine is sent the cookie)",
    )
    provider = parser.add_argument_group(
        "OpenID Connect",
        "log-in at the provider that the API server trusts; HOST/oidc is where it sends browsers back to, so that --host and "
        "--port are needed",
    )
    provider.add_argument("--oidc-issuer-url", default="", help="the provider, as the API server knows it")
    provider.add_argument(
        "--oidc-client-id", default="", help="the client that tokens are for, as the API server knows it"
    )
    provider.add_argument(
        "--oidc-client-secret-file", default="", help="file with the client's secret, if it has one"
    )
    provider.add_argument(
        "--oidc-ca-file", default="", help="authority of the provider's certificate (default: the system's)"
    )
    provider.add_argument(
        "--oidc-scopes",
        default="email,profile,groups,offline_access",
        help="what is asked for besides openid (default: %(default)s)",
    )
    cluster = parser.add_argument_group(
        "in a pod", "for others, over TLS, with no rights of its own: each logs in with a token"
    )
    cluster.add_argument(
        "--in-cluster",
        action="store_true",
        help="serve whoever has a token of the cluster that this pod is in",
    )
    cluster.add_argument(
        "--certificate-authority", default=_AUTHORITY, help="authority of the API server's certificate"
    )
    cluster.add_argument("--tls-cert-file", default="", help="certificate (default: a self-signed one)")
    cluster.add_argument("--tls-private-key-file", default="", help="its key")
    options = parser.parse_args(argv)
    if not 0 <= options.port <= _LAST_PORT:
        parser.error(f"--port {options.port} is none: at most {_LAST_PORT}")
    for host in options.host:
        if not _HOST.fullmatch(host):
            parser.error(f"--host {host} is no name of a host, with or without a port")
    if options.in_cluster and not options.host:
        parser.error("--in-cluster needs --host: the name under which browsers ask, such as localhost:8443")
    if bool(options.tls_cert_file) != bool(options.tls_private_key_file):
        parser.error("--tls-cert-file and --tls-private-key-file belong together")
    if options.tls_cert_file and not options.in_cluster:
        parser.error("--tls-cert-file is for --in-cluster: on loopback there is no TLS")
    if not options.in_cluster and not _is_loopback(options.address or "127.0.0.1"):
        parser.error(f"--address {options.address} is not supported: the dashboard listens on loopback only")
    if bool(options.oidc_issuer_url) != bool(options.oidc_client_id):
        parser.error("--oidc-issuer-url and --oidc-client-id belong together")
    if options.oidc_issuer_url and not options.host:
        parser.error("--oidc-issuer-url needs --host: the name under which the provider sends browsers back")
    if not options.oidc_issuer_url and (options.oidc_client_secret_file or options.oidc_ca_file):
        parser.error("--oidc-client-secret-file and --oidc-ca-file need --oidc-issuer-url")
    try:
        server = _in_cluster(options) if options.in_cluster else _on_loopback(options)
    except (ValueError, OSError) as error:
        parser.exit(1, f"pyb dashboard: {error}\n")
    return _program.run("pyb dashboard", _program.serve(server, server.invitation))


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _provider(options: argparse.Namespace) -> OpenIdProvider | None:
    """Return the OpenID provider, if there is one."""
    if not options.oidc_issuer_url:
        return None
    from pybernetes.client.openid import OpenIdProvider
    from pybernetes.lib.tls import tls

    secret = (
        Path(options.oidc_client_secret_file).read_text().strip() if options.oidc_client_secret_file else ""
    )
    scopes = tuple(scope for scope in options.oidc_scopes.split(",") if scope)
    context = tls.client_context(options.oidc_ca_file or None)
    return OpenIdProvider(options.oidc_issuer_url, options.oidc_client_id, secret, scopes, context)


def _on_loopback(options: argparse.Namespace) -> DashboardServer:
    """Return the server for the person at the terminal."""
    from pybernetes.client import kubeconfig
    from pybernetes.tools.dashboard.server import DashboardServer
    from pybernetes.tools.dashboard.users import Users

    path = options.kubeconfig or None
    config = kubeconfig.load(path, context=options.context)
    users = Users(config, kubeconfig.contexts(path), lambda context: kubeconfig.load(path, context=context))
    address = options.address or "127.0.0.1"
    return DashboardServer(users, address, options.port, options.host, provider=_provider(options))


def _in_cluster(options: argparse.Namespace) -> DashboardServer:
    """Return the server for all who have tokens. It trusts the API server's authority, and is nobody itself."""
    from pybernetes.client.credentials import Anonymous, Authority
    from pybernetes.client.kubeconfig import Config
    from pybernetes.tools.dashboard.server import DashboardServer
    from pybernetes.tools.dashboard.users import Users

    host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        raise ValueError(
            "--in-cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this is no pod"
        )
    authority = Path(options.certificate_authority)
    if not authority.exists():
        raise ValueError(f"--certificate-authority: {authority} does not exist")
    server = f"https://{f'[{host}]' if ':' in host else host}:{port}"
    config = Config(server, Anonymous(Authority(authority)), context="in-cluster")
    users = Users(config, on_this_machine=False)
    address = options.address or "0.0.0.0"
    return DashboardServer(
        users, address, options.port, options.host, _tls(options), provider=_provider(options)
    )


def _tls(options: argparse.Namespace) -> ssl.SSLContext:
    import tempfile

    from pybernetes.lib.tls import tls

    if options.tls_cert_file:
        return tls.server_context(options.tls_cert_file, options.tls_private_key_file)
    names = [host[1].strip("[]") for host in map(_HOST.fullmatch, options.host) if host]
    with tempfile.TemporaryDirectory() as directory:
        certificate, key, _ = tls.ensure_serving(Path(directory), names, "dashboard")
        return tls.server_context(certificate, key)
