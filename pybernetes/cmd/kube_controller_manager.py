"""kube-controller-manager: the control loops of Kubernetes in one program."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pybernetes.api import feature_gates
from pybernetes.cmd import _secure_serving
from pybernetes.cmd._leader_election import election, election_flags
from pybernetes.cmd._program import add_version, run, until_signal
from pybernetes.cmd._secure_serving import serving_flags
from pybernetes.lib import flags
from pybernetes.lib.flags import Flag

if TYPE_CHECKING:
    from pybernetes.client.client import Client
    from pybernetes.client.kubeconfig import Config

log = logging.getLogger(__name__)

SUMMARY = "Run the control loops of Kubernetes"

GENERAL = (
    Flag("kubeconfig", "", "file that says where the API server is and who this is"),
    Flag("master", "", "address of the API server, instead of the one in the kubeconfig"),
    Flag("controllers", ("*",), "which to run: '*' is all that are on by default, 'foo' turns one on, '-foo' off"),
    Flag("use-service-account-credentials", False, "each controller acts as a service account of its own"),
    Flag("kube-api-qps", 0.0, "how many calls a second the API server is asked; 0 is no limit"),
    Flag("kube-api-burst", 0, "how many calls may go at once while the limit allows"),
    feature_gates.FLAG,
    Flag("kube-api-content-type", "", "content type of requests to the API server; only application/json is spoken"),
    Flag("cluster-name", "kubernetes", "name of the cluster"),
)  # fmt: skip
SERVING = serving_flags(10257)
ELECTION = election_flags("kube-controller-manager")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line, with upstream's names and, except for the rate of calls, its defaults."""
    from pybernetes.control_plane.controllers._controller_manager import registry

    descriptors = registry.descriptors()
    result = argparse.ArgumentParser(prog="kube-controller-manager", description=SUMMARY, allow_abbrev=False)
    taken: set[str] = set()
    groups = {
        "general": GENERAL,
        "serving": SERVING,
        "leader election": ELECTION,
        "controllers": registry.flags(descriptors),
    }
    for title, group in groups.items():
        flags.add(result.add_argument_group(title), [flag for flag in group if flag.name not in taken])
        taken |= {flag.name for flag in group}
    result.add_argument("-v", "--v", type=int, default=0, help="how much to log")
    add_version(result)
    on = ", ".join(sorted(name for name, descriptor in descriptors.items() if descriptor.enabled))
    off = ", ".join(sorted(name for name, descriptor in descriptors.items() if not descriptor.enabled))
    result.epilog = f"Controllers: {on}. Off by default: {off or 'none'}."
    return result


def main(argv: list[str]) -> int:
    """Run the controllers until told to stop, or until the lease is lost."""
    arguments = parser().parse_args(argv)
    from pybernetes.lib import logs

    logs.set_up(arguments.v)
    try:
        _check(arguments)
    except ValueError as error:
        print(f"kube-controller-manager: {error}", file=sys.stderr)
        return 1
    return run("kube-controller-manager", _run(arguments), RuntimeError)


def _check(arguments: argparse.Namespace) -> None:
    _secure_serving.check(arguments)
    if arguments.leader_elect_resource_lock != "leases":
        raise ValueError(
            f'--leader-elect-resource-lock: "{arguments.leader_elect_resource_lock}" is not supported'
        )
    feature_gates.from_flag(arguments.feature_gates)
    if arguments.kube_api_content_type not in ("", "application/json"):
        log.warning(
            "--kube-api-content-type=%s changes nothing here: JSON is spoken", arguments.kube_api_content_type
        )


async def _run(arguments: argparse.Namespace) -> int:
    from pybernetes.client import kubeconfig
    from pybernetes.control_plane.controllers._controller_manager import registry
    from pybernetes.control_plane.controllers._controller_manager.service_account import client_of
    from pybernetes.runtime import LostLease, Manager

    settings = kubeconfig.load(arguments.kubeconfig or None)
    if arguments.master:
        settings.server = arguments.master
    arguments.root_ca_data = _authority(settings)
    chosen = registry.select(arguments.controllers, registry.descriptors())
    rate = {"qps": arguments.kube_api_qps, "burst": arguments.kube_api_burst}
    client = settings.client(user_agent="kube-controller-manager", **rate)
    # A lease must not wait behind the calls of busy controllers, nor be limited with them.
    lease_client = settings.client(user_agent="kube-controller-manager")
    manager = Manager(client, election=election(arguments), election_client=lease_client)
    clients = [client, lease_client]

    def client_for(identity: str) -> Client:
        clients.append(client_of(client, settings, identity))
        return clients[-1]

    own = client_for if arguments.use_service_account_credentials else None
    registry.add_all(manager, chosen, arguments, own)
    if arguments.secure_port:
        port = await _secure_serving.serve(
            manager, arguments, "kube-controller-manager", arguments.kubeconfig
        )
        print(f"kube-controller-manager is serving on https://{arguments.bind_address}:{port}", flush=True)
    try:
        await until_signal(manager.run())  # in the end the lease is given back
        return 0
    except LostLease as error:
        print(f"kube-controller-manager: {error}", file=sys.stderr)
        return 1
    finally:
        await manager.stop_serving()
        for used in clients:
            await used.close()


def _authority(settings: Config) -> str:
    """Return the certificate authority that the manager itself trusts, as text."""
    trust = settings.credentials.trust()
    if trust.path is not None:
        return Path(trust.path).read_text()
    return trust.text or ""
