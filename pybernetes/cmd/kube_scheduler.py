"""kube-scheduler: chooses a node for each pod that has none."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from pybernetes.api import feature_gates
from pybernetes.cmd import _secure_serving, _upstream_flags
from pybernetes.cmd._leader_election import election_flags
from pybernetes.cmd._program import add_version, run, stop_event
from pybernetes.cmd._secure_serving import serving_flags
from pybernetes.lib.flags import Flag, Refused, Seconds, add, add_ignored, check, warn_ignored

if TYPE_CHECKING:
    from pybernetes.scheduling.config import Configuration

SUMMARY = "Choose a node for each pod that has none: filter, then score"

_SERVING = serving_flags(10259)
_ELECTION = election_flags("kube-scheduler")
_MISC = (
    Flag("config", "", "file with a KubeSchedulerConfiguration"),
    Flag("kubeconfig", "", "how to reach the API server; ignored with --config, which says it too"),
    Flag("master", "", "address of the API server, instead of the one in the kubeconfig"),
    feature_gates.FLAG,
    Flag("kube-api-qps", 0.0, "limit on calls per second; 0: none. Ignored with --config"),
    Flag("kube-api-burst", 0, "calls at once beyond that limit"),
    Flag(
        "pod-max-in-unschedulable-pods-duration",
        Seconds(300),
        "how long a pod waits before it is tried again anyway",
    ),
)
OTHERS: tuple[Flag, ...] = (
    *_upstream_flags.OTHERS,
    Refused("write-config-to", help="/configz shows the configuration that is in force"),
)
# Flags of upstream's command lines that mean nothing here, and why.
_IGNORED = {
    **_upstream_flags.IGNORED,
    "address": "there is no port without TLS: see --bind-address",
    "kube-api-content-type": "JSON is spoken with the API server",
    "algorithm-provider": "upstream removed it: see --config",
    "policy-config-file": "upstream removed it: see --config",
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line, with upstream's names and defaults."""
    result = argparse.ArgumentParser(prog="kube-scheduler", description=SUMMARY, allow_abbrev=False)
    add(result.add_argument_group("configuration"), _MISC)
    add(result.add_argument_group("serving"), _SERVING)
    add(result.add_argument_group("leader election"), _ELECTION)
    add(result.add_argument_group("flags of upstream without an effect"), OTHERS)
    add_ignored(result, _IGNORED)
    result.add_argument("-v", "--v", type=int, default=0, help="how much to log")
    add_version(result)
    return result


def configuration(options: argparse.Namespace) -> Configuration:
    """Return the configuration of the file and the command line; the file wins."""
    from pybernetes.scheduling import config

    _secure_serving.check(options)
    feature_gates.from_flag(options.feature_gates, feature_gates.HONOURED["kube-scheduler"])
    check(options, OTHERS)
    warn_ignored(options, _IGNORED)
    if options.leader_elect_resource_lock != "leases":
        raise ValueError('resourceLock value must be "leases"')
    if options.config:
        settings = config.load(Path(options.config))
    else:
        settings = config.Configuration(
            kubeconfig=options.kubeconfig, qps=options.kube_api_qps, burst=options.kube_api_burst
        )
    # Flags of leader election that are given win over the file, as upstream's do.
    for flag, attribute in (
        ("leader_elect", "leader_elect"),
        ("leader_elect_lease_duration", "lease_seconds"),
        ("leader_elect_renew_deadline", "renew_seconds"),
        ("leader_elect_retry_period", "retry_seconds"),
        ("leader_elect_resource_name", "lease_name"),
        ("leader_elect_resource_namespace", "lease_namespace"),
    ):
        value = getattr(options, flag)
        default = next(known.default for known in _ELECTION if known.attribute == flag)
        if not options.config or value != default:
            setattr(settings, attribute, value)
    return settings


def main(argv: list[str]) -> int:
    """Run the scheduler until it is told to stop."""
    options = parser().parse_args(argv)
    from pybernetes.client.kubeconfig import ConfigError
    from pybernetes.lib import logs
    from pybernetes.runtime.election import LostLease

    logs.set_up(options.v)
    return run("kube-scheduler", _serve(options), ConfigError, LostLease)


async def _serve(options: argparse.Namespace) -> int:
    from pybernetes.client import kubeconfig
    from pybernetes.control_plane.scheduler.scheduler import Scheduler
    from pybernetes.runtime.election import Election
    from pybernetes.runtime.manager import Manager
    from pybernetes.scheduling import configz

    settings = configuration(options)
    access = kubeconfig.load(settings.kubeconfig or None)
    if options.master:
        access.server = options.master
    client = access.client(user_agent="kube-scheduler", qps=settings.qps, burst=settings.burst)
    scheduler = Scheduler(client, settings, max_unschedulable=options.pod_max_in_unschedulable_pods_duration)
    election = None
    if settings.leader_elect:
        election = Election(
            settings.lease_name, settings.lease_namespace, lease_seconds=settings.lease_seconds,
            renew_seconds=settings.renew_seconds, retry_seconds=settings.retry_seconds,
            coordinated=feature_gates.of_component("kube-scheduler", options.feature_gates)[feature_gates.COORDINATED],
        )  # fmt: skip
    # A lease must not wait behind bindings, nor be limited with them.
    lease_client = access.client(user_agent="kube-scheduler")
    manager = Manager(client, election=election, election_client=lease_client)
    manager.add_task("scheduler", scheduler.run)
    scheduler.show_on(manager)
    manager.ready.add("informer-sync", lambda: scheduler.check() if manager.working.is_set() else None)
    if options.secure_port:
        await _secure_serving.serve(
            manager,
            options,
            "kube-scheduler",
            settings.kubeconfig,
            {configz.NAME: configz.configuration(settings)},
        )
    working = asyncio.create_task(manager.run(), name="manager")
    waiting = asyncio.create_task(stop_event().wait(), name="stop")
    await asyncio.wait([working, waiting], return_when=asyncio.FIRST_COMPLETED)
    failed = working.done() and not working.cancelled()
    for task in (working, waiting):
        task.cancel()
    await asyncio.gather(working, waiting, return_exceptions=True)
    await manager.stop_serving()
    await client.close()
    await lease_client.close()
    if failed:
        working.result()
    return 0
