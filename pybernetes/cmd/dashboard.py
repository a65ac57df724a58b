"""dashboard: serve the dashboard of a cluster on this machine, or in a pod."""

from __future__ import annotations

import argparse
import ipaddress
import os
import ssl
from pathlib import Path
from typing import TYPE_CHECKING

from pybernetes.cmd import _program

if TYPE_CHECKING:
    from pybernetes.tools.dashboard.server import DashboardServer

SUMMARY = "Serve the dashboard of a cluster on this machine, and print the link that opens it"
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
    if options.in_cluster and not options.host:
        parser.error("--in-cluster needs --host: the name under which browsers ask, such as localhost:8443")
    if bool(options.tls_cert_file) != bool(options.tls_private_key_file):
        parser.error("--tls-cert-file and --tls-private-key-file belong together")
    if options.tls_cert_file and not options.in_cluster:
        parser.error("--tls-cert-file is for --in-cluster: on loopback there is no TLS")
    if not options.in_cluster and not _is_loopback(options.address or "127.0.0.1"):
        parser.error(f"--address {options.address} is not supported: the dashboard listens on loopback only")
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


def _on_loopback(options: argparse.Namespace) -> DashboardServer:
    """Return the server for the person at the terminal."""
    from pybernetes.client import kubeconfig
    from pybernetes.tools.dashboard.server import DashboardServer
    from pybernetes.tools.dashboard.users import Users

    path = options.kubeconfig or None
    config = kubeconfig.load(path, context=options.context)
    users = Users(config, kubeconfig.contexts(path), lambda context: kubeconfig.load(path, context=context))
    return DashboardServer(users, options.address or "127.0.0.1", options.port, options.host)


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
    return DashboardServer(users, options.address or "0.0.0.0", options.port, options.host, _tls(options))


def _tls(options: argparse.Namespace) -> ssl.SSLContext:
    import tempfile

    from pybernetes.lib import tls

    if options.tls_cert_file:
        return tls.server_context(options.tls_cert_file, options.tls_private_key_file)
    names = [name.rpartition(":")[0] or name for name in options.host]
    with tempfile.TemporaryDirectory() as directory:
        certificate, key, _ = tls.ensure_serving(Path(directory), names, "dashboard")
        return tls.server_context(certificate, key)
