"""cluster-autoscaler: adds nodes for pods that find no room, and removes nodes that are not needed."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pybernetes.cmd._leader_election import election, election_flags
from pybernetes.cmd._program import add_version, run, until_signal
from pybernetes.lib.flags import add, add_ignored, warn_ignored

if TYPE_CHECKING:
    from pybernetes.control_plane.autoscaler.provider import CloudProvider
    from pybernetes.scheduling.config import Configuration

NAME = "cluster-autoscaler"
SUMMARY = "Add nodes for pods that find no room, and remove nodes that are not needed"


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line, with upstream's names and defaults."""
    from pybernetes.control_plane.autoscaler import flags

    result = argparse.ArgumentParser(prog=NAME, description=SUMMARY, allow_abbrev=False)
    add(result.add_argument_group("general"), flags.MAIN)
    add(result.add_argument_group("adding nodes"), flags.SCALE_UP)
    add(result.add_argument_group("removing nodes"), flags.SCALE_DOWN)
    add(result.add_argument_group("ProvisioningRequests"), flags.PROVISIONING)
    add(result.add_argument_group("leader election"), election_flags(NAME))
    add_ignored(result, flags.IGNORED | flags.ABSENT)
    result.add_argument("-v", "--v", type=int, default=0, help="how much to log")
    add_version(result)
    return result


def cloud_of(options: argparse.Namespace) -> CloudProvider:
    """Return the cloud that the command line names; ValueError if there is no such."""
    from pybernetes.control_plane.autoscaler import flags
    from pybernetes.control_plane.autoscaler.externalgrpc import config
    from pybernetes.control_plane.autoscaler.externalgrpc.client import ExternalGrpcProvider

    if options.cloud_provider not in flags.PROVIDERS:
        raise ValueError(
            f"--cloud-provider: {options.cloud_provider!r} is not supported, only {', '.join(flags.PROVIDERS)} is: "
            "other clouds are reached through a provider that serves its protocol"
        )
    if not options.cloud_config:
        raise ValueError("No config file provided, please specify it via the --cloud-config flag")
    return ExternalGrpcProvider(config.read(Path(options.cloud_config)))


def _configuration(options: argparse.Namespace) -> Configuration | None:
    if not options.scheduler_config_file:
        return None
    from pybernetes.scheduling import config

    return config.load(Path(options.scheduler_config_file))


def main(argv: list[str]) -> int:
    """Run until told to stop."""
    options = parser().parse_args(argv)
    from pybernetes.client.errors import StatusError
    from pybernetes.client.kubeconfig import ConfigError
    from pybernetes.lib import logs
    from pybernetes.runtime.election import LostLease

    logs.set_up(options.v)
    return run(NAME, _serve(options), ConfigError, LostLease, StatusError)


async def _serve(options: argparse.Namespace) -> int:
    from pybernetes.client import kubeconfig
    from pybernetes.control_plane.autoscaler import flags
    from pybernetes.control_plane.autoscaler.autoscaler import Autoscaler
    from pybernetes.runtime.manager import Manager

    flags.check(options)
    warn_ignored(options, flags.IGNORED)
    configuration = _configuration(options)
    cloud = cloud_of(options)
    access = kubeconfig.load(options.kubeconfig or None)
    client = access.client(
        user_agent=options.user_agent, qps=options.kube_client_qps, burst=options.kube_client_burst
    )
    lease_client = access.client(user_agent=options.user_agent)
    autoscaler = Autoscaler(client, cloud, options, configuration=configuration)
    manager = Manager(client, election=election(options), election_client=lease_client)
    manager.add_task(NAME, autoscaler.run)
    manager.metrics.more.append(autoscaler.metrics.write)
    manager.health.add("cluster-autoscaler", autoscaler.liveness.check)
    manager.ready.add("informer-sync", lambda: autoscaler.check() if manager.working.is_set() else None)
    try:
        if options.address:
            host, _, port = options.address.rpartition(":")
            await manager.serve(
                host.strip("[]") or "0.0.0.0", int(port), more={"/health-check": manager.health.page}
            )
        await until_signal(manager.run())
    finally:
        await manager.stop_serving()
        await cloud.close()
        await client.close()
        await lease_client.close()
    return 0
