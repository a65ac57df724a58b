"""kube-controller-manager: the control loops of Kubernetes in one program."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import ssl
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pybernetes.lib import flags
from pybernetes.lib.flags import Flag, Seconds

if TYPE_CHECKING:
    from pybernetes.client.client import Client
    from pybernetes.client.config import Config
    from pybernetes.runtime import Manager

SUMMARY = "Run the control loops of Kubernetes"

GENERAL = (
    Flag("kubeconfig", "", "file that says where the API server is and who this is"),
    Flag("master", "", "address of the API server, instead of the one in the kubeconfig"),
    Flag("controllers", ("*",), "which to run: '*' is all that are on by default, 'foo' turns one on, '-foo' off"),
    Flag("use-service-account-credentials", False, "each controller acts as a service account of its own"),
    Flag("kube-api-qps", 0.0, "how many calls a second the API server is asked; 0 is no limit"),
    Flag("kube-api-burst", 0, "how many calls may go at once while the limit allows"),
    Flag("feature-gates", (), "features to turn on or off: Name=true,Other=false"),
    Flag("cluster-name", "kubernetes", "name of the cluster"),
)  # fmt: skip
SERVING = (
    Flag("bind-address", "0.0.0.0", "address to serve health and metrics at"),
    Flag("secure-port", 10257, "port to serve them at; 0 serves nothing"),
    Flag("port", 0, "there is no port without TLS: only 0 is taken"),
    Flag("cert-dir", "", "where a certificate to serve with is kept or made"),
    Flag("tls-cert-file", "", "certificate to serve with"),
    Flag("tls-private-key-file", "", "its key"),
    Flag("client-ca-file", "", "callers with a certificate of this authority are known"),
    Flag("requestheader-client-ca-file", "", "authority of proxies in front; who they speak for is not looked at"),
    Flag("authentication-kubeconfig", "", "how to ask who callers are; without it nobody is known"),
    Flag("authorization-kubeconfig", "", "how to ask what callers may see"),
    Flag("authorization-always-allow-paths", ("/healthz", "/readyz", "/livez"), "what everybody may see"),
    Flag("profiling", True, "there are no profiles to be had: taken and left"),
)  # fmt: skip
ELECTION = (
    Flag("leader-elect", True, "work only while holding a lease, so that several can stand by"),
    Flag("leader-elect-lease-duration", Seconds(15), "how long others wait for a leader that is silent"),
    Flag("leader-elect-renew-deadline", Seconds(10), "how long a leader tries to renew before it gives up"),
    Flag("leader-elect-retry-period", Seconds(2), "time between two tries"),
    Flag("leader-elect-resource-lock", "leases", "only leases can be held"),
    Flag("leader-elect-resource-name", "kube-controller-manager", "name of the lease"),
    Flag("leader-elect-resource-namespace", "kube-system", "its namespace"),
)


def parser() -> argparse.ArgumentParser:
    """The command line, with upstream's names and, but for the rate of calls, its defaults."""
    from pybernetes.control_plane.controllers import _manager

    known = _manager.descriptors()
    result = argparse.ArgumentParser(prog="kube-controller-manager", description=SUMMARY, allow_abbrev=False)
    taken: set[str] = set()
    groups = {
        "general": GENERAL,
        "serving": SERVING,
        "leader election": ELECTION,
        "controllers": _manager.flags(known),
    }
    for title, group in groups.items():
        flags.add(result.add_argument_group(title), [flag for flag in group if flag.name not in taken])
        taken |= {flag.name for flag in group}
    result.add_argument("-v", "--v", type=int, default=0, help="how much to log")
    on = ", ".join(sorted(name for name, each in known.items() if each.enabled))
    off = ", ".join(sorted(name for name, each in known.items() if not each.enabled))
    result.epilog = f"Controllers: {on}. Off by default: {off or 'none'}."
    return result


def main(argv: list[str]) -> int:
    """Runs the controllers until told to stop, or until the lease is lost."""
    arguments = parser().parse_args(argv)
    from pybernetes.lib import logs

    logs.set_up(arguments.v)
    try:
        _check(arguments)
        import uvloop

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(_run(arguments))
    except (OSError, ValueError, RuntimeError) as error:
        print(f"kube-controller-manager: {error}", file=sys.stderr)
        return 1


def _check(arguments: argparse.Namespace) -> None:
    if arguments.port:
        raise ValueError("--port: there is no port without TLS, only 0 is taken; see --secure-port")
    if arguments.leader_elect_resource_lock != "leases":
        raise ValueError(
            f'--leader-elect-resource-lock: "{arguments.leader_elect_resource_lock}" is not supported'
        )
    for gate in arguments.feature_gates:
        name, equals, value = gate.partition("=")
        if not name or not equals:
            raise ValueError(f"--feature-gates: missing bool value for {gate}")
        flags.boolean(value)


async def _run(arguments: argparse.Namespace) -> int:
    from pybernetes.client import config
    from pybernetes.control_plane.controllers import _identity, _manager
    from pybernetes.runtime import Election, LostLease, Manager

    settings = config.load(arguments.kubeconfig or None)
    if arguments.master:
        settings.server = arguments.master
    arguments.root_ca_data = _authority(settings)
    known = _manager.descriptors()
    chosen = _manager.select(arguments.controllers, known)
    rate = {"qps": arguments.kube_api_qps, "burst": arguments.kube_api_burst}
    client = settings.client(user_agent="kube-controller-manager", **rate)
    election = None
    if arguments.leader_elect:
        election = Election(
            arguments.leader_elect_resource_name, arguments.leader_elect_resource_namespace,
            lease_seconds=arguments.leader_elect_lease_duration,
            renew_seconds=arguments.leader_elect_renew_deadline, retry_seconds=arguments.leader_elect_retry_period,
        )  # fmt: skip
    manager = Manager(client, election=election)
    clients = [client]

    def client_for(identity: str) -> Client:
        clients.append(_identity.client_of(client, settings, identity))
        return clients[-1]

    own = client_for if arguments.use_service_account_credentials else None
    _manager.add_all(manager, chosen, arguments, own)
    with contextlib.ExitStack() as stack:
        if arguments.secure_port:
            await _serve(manager, arguments, stack)
        try:
            return await _until_told(manager)
        except LostLease as error:
            print(f"kube-controller-manager: {error}", file=sys.stderr)
            return 1
        finally:
            await manager.stop_serving()
            for each in clients:
                await each.close()


def _authority(settings: Config) -> str:
    """The authority that the manager itself trusts, as text."""
    trust = settings.credentials.trust()
    if trust.path is not None:
        return Path(trust.path).read_text()
    return trust.text or ""


async def _until_told(manager: Manager) -> int:
    """Works until a signal comes; then the lease is given back."""
    work = asyncio.ensure_future(manager.run())
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, work.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await work
    return 0


async def _serve(manager: Manager, arguments: argparse.Namespace, stack: contextlib.ExitStack) -> None:
    from pybernetes.client import config
    from pybernetes.lib import tls
    from pybernetes.runtime.delegation import Delegation

    certificate, key = arguments.tls_cert_file, arguments.tls_private_key_file
    if not certificate:
        directory = arguments.cert_dir or stack.enter_context(tempfile.TemporaryDirectory())
        Path(directory).mkdir(parents=True, exist_ok=True)
        certificate, key, _ = tls.ensure_serving(
            Path(directory), ["localhost", "127.0.0.1"], "kube-controller-manager"
        )
    context: ssl.SSLContext = tls.server_context(certificate, key, arguments.client_ca_file or None)
    asks = config.load(arguments.authorization_kubeconfig or arguments.authentication_kubeconfig or arguments.kubeconfig or None)  # fmt: skip
    gate = Delegation(asks.client(), allowed=arguments.authorization_always_allow_paths)
    port = await manager.serve(arguments.bind_address, arguments.secure_port, context, gate)
    print(f"kube-controller-manager is serving on https://{arguments.bind_address}:{port}", flush=True)
