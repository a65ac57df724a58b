"""kubefed-controller-manager: carries what a host cluster says over to the clusters of its federation."""

from __future__ import annotations

import argparse

from pybernetes.cmd import _secure_serving
from pybernetes.cmd._program import run, until_signal
from pybernetes.cmd._secure_serving import serving_flags
from pybernetes.lib import flags
from pybernetes.lib.flags import Flag

SUMMARY = "Make many clusters one: carry federated objects over to the clusters that have joined"
_PORT = 10262
FLAGS = (
    Flag("kubeconfig", "", "how to reach the host's API server"),
    Flag(
        "kubefed-namespace",
        "kube-federation-system",
        "namespace of the host that has the clusters, the settings and the kinds of the federation",
    ),
    Flag("leader-elect", True, "work only while holding the lease, so that several can stand by"),
    Flag("rest-config-qps", 0.0, "how many calls a second the host's API server is asked; 0 is no limit"),
    Flag("rest-config-burst", 0, "how many calls may go at once while the limit allows"),
    Flag("v", 0, "how much to log"),
)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    return flags.parser("kubefed-controller-manager", SUMMARY, (*FLAGS, *serving_flags(_PORT)))


def main(argv: list[str]) -> int:
    """Run the control plane of a federation until told to stop."""
    arguments = parser().parse_args(argv)
    from pybernetes.client.errors import StatusError
    from pybernetes.client.kubeconfig import ConfigError
    from pybernetes.lib import logs
    from pybernetes.runtime.election import LostLease

    logs.set_up(arguments.v)
    return run("kubefed-controller-manager", _serve(arguments), ConfigError, StatusError, LostLease)


async def _serve(arguments: argparse.Namespace) -> int:
    from pybernetes.client import kubeconfig
    from pybernetes.control_plane.federation import federation
    from pybernetes.control_plane.federation.kinds import COMPONENT
    from pybernetes.lib.memory import gc_tuning
    from pybernetes.runtime.manager import Manager

    _secure_serving.check(arguments)
    access = kubeconfig.load(arguments.kubeconfig or None)
    namespace = arguments.kubefed_namespace
    client = access.client(
        user_agent=COMPONENT, qps=arguments.rest_config_qps, burst=arguments.rest_config_burst
    )
    lease_client = access.client(user_agent=COMPONENT)  # a lease must not wait behind other calls
    try:
        settings = await federation.settings_of(client, namespace)
        election = federation.election_of(settings, namespace) if arguments.leader_elect else None
        manager = Manager(client, election=election, election_client=lease_client)
        control_plane = federation.Federation(manager, settings, namespace)
        if arguments.secure_port:
            port = await _secure_serving.serve(manager, arguments, COMPONENT, arguments.kubeconfig)
            print(f"{COMPONENT} is serving on https://{arguments.bind_address}:{port}", flush=True)
        gc_tuning.tune()
        try:
            await until_signal(control_plane.run())
        finally:
            await manager.stop_serving()
    finally:
        await client.close()
        await lease_client.close()
    return 0
