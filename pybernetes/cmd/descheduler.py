"""descheduler: evicts pods that would better be elsewhere."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pybernetes import KUBERNETES_VERSION
from pybernetes.cmd import _secure_serving
from pybernetes.cmd._leader_election import election, election_flags
from pybernetes.cmd._program import run, until_signal
from pybernetes.cmd._secure_serving import serving_flags
from pybernetes.lib.flags import (
    LOG_FLAGS,
    SERVING_FLAGS,
    Flag,
    Seconds,
    add,
    add_ignored,
    boolean,
    warn_ignored,
)

if TYPE_CHECKING:
    from pybernetes.control_plane.descheduler.policy import Policy

SUMMARY = "Evict pods that would better be elsewhere, so that the scheduler can place them again"

_GATE = "EvictionsInBackground"
_SERVING = serving_flags(10258)
# Upstream's descheduler has longer times than other programs, and no election unless it is asked for.
_CHANGED = {
    "leader-elect": False,
    "leader-elect-lease-duration": Seconds(137),
    "leader-elect-renew-deadline": Seconds(107),
    "leader-elect-retry-period": Seconds(26),
}
_ELECTION = tuple(
    Flag(flag.name, _CHANGED.get(flag.name, flag.default), flag.help)
    for flag in election_flags("descheduler")
)
_MISC = (
    Flag("policy-config-file", "", "file with a DeschedulerPolicy"),
    Flag(
        "descheduling-interval",
        Seconds(0),
        "time between the beginnings of two passes; 0: one pass and no more",
    ),
    Flag("dry-run", False, "say what would be evicted, and evict nothing"),
    Flag("kubeconfig", "", "how to reach the API server; --client-connection-kubeconfig is its newer name"),
    Flag("client-connection-kubeconfig", "", "how to reach the API server"),
    Flag("client-connection-qps", 0.0, "limit on calls per second; 0: none"),
    Flag("client-connection-burst", 0, "calls at once beyond that limit"),
    Flag("disable-metrics", False, "serve no metrics"),
    Flag("otel-collector-endpoint", "", "no traces are sent: only the empty text is taken"),
    Flag("otel-transport-ca-cert", "", "as above"),
    Flag("otel-service-name", "descheduler", "as above: only the default is taken"),
    Flag("otel-trace-namespace", "", "as above"),
    Flag("otel-sample-rate", 1.0, "as above: only the default is taken"),
    Flag("otel-fallback-no-op-on-error", False, "as above: only the default is taken"),
    Flag("enable-http2", False, "health and metrics are served over HTTP/1.1: only false is taken"),
    Flag("logging-format", "text", "the log is text: nothing else is taken"),
    Flag("feature-gates", (), f"features to turn on or off: {_GATE}=true|false (alpha, off by default)"),
)
# Flags of upstream's command line that mean nothing here, and why.
_IGNORED = {
    name: reason
    for name, reason in (LOG_FLAGS | SERVING_FLAGS).items()
    if name not in ("logging-format", "logtostderr", "contention-profiling")
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line, with upstream's names and defaults."""
    result = argparse.ArgumentParser(prog="descheduler", description=SUMMARY, allow_abbrev=False)
    add(result.add_argument_group("descheduling"), _MISC)
    add(result.add_argument_group("serving"), _SERVING)
    add(result.add_argument_group("leader election"), _ELECTION)
    add_ignored(result, _IGNORED)
    result.add_argument("-v", "--v", type=int, default=0, help="how much to log")
    return result


def policy(options: argparse.Namespace) -> Policy:
    """Check the command line and return the policy that it names; ValueError if anything cannot be."""
    from pybernetes.control_plane.descheduler import policy as policies

    _secure_serving.check(options)
    warn_ignored(options, _IGNORED)
    for flag in _MISC:
        if flag.name.startswith("otel-") and getattr(options, flag.name.replace("-", "_")) != flag.default:
            raise ValueError(f"--{flag.name}: traces are not supported")
    if options.enable_http2:
        raise ValueError("--enable-http2: HTTP/2 is not supported")
    if options.logging_format != "text":
        raise ValueError(f"--logging-format: {options.logging_format} is not supported, only text is")
    if options.leader_elect and not options.descheduling_interval:
        raise ValueError("leaderElection must be used with deschedulingInterval")
    if options.leader_elect and options.leader_elect_resource_lock != "leases":
        raise ValueError('resourceLock value must be "leases"')
    if not options.policy_config_file:
        raise ValueError("deschedulerPolicy is nil: --policy-config-file names no file")
    return policies.load(Path(options.policy_config_file))


def in_background(options: argparse.Namespace) -> bool:
    """Return whether the feature gate is on that lets others carry out evictions."""
    result = False
    for gate in options.feature_gates:
        name, equals, value = gate.partition("=")
        if not equals:
            raise ValueError(f"--feature-gates: missing bool value for {name}")
        if name != _GATE:
            raise ValueError(f"unrecognized feature gate: {name}")
        result = boolean(value)
    return result


def main(argv: list[str]) -> int:
    """Run the descheduler: once, or until it is told to stop."""
    if argv == ["version"]:
        print(f"Descheduler version {KUBERNETES_VERSION}")
        return 0
    options = parser().parse_args(argv)
    from pybernetes.client.errors import StatusError
    from pybernetes.client.kubeconfig import ConfigError
    from pybernetes.lib import logs
    from pybernetes.runtime.election import LostLease

    logs.set_up(options.v)
    return run("descheduler", _serve(options), ConfigError, LostLease, StatusError)


async def _serve(options: argparse.Namespace) -> int:
    from pybernetes.client import kubeconfig
    from pybernetes.control_plane.descheduler.descheduler import Descheduler
    from pybernetes.runtime.manager import Manager

    background = in_background(options)
    rules = policy(options)
    where = options.client_connection_kubeconfig or options.kubeconfig
    access = kubeconfig.load(where or None)
    client = access.client(
        user_agent="descheduler", qps=options.client_connection_qps, burst=options.client_connection_burst
    )
    descheduler = Descheduler(
        client,
        rules,
        interval=options.descheduling_interval,
        dry_run=options.dry_run,
        in_background=background,
        version=KUBERNETES_VERSION,
    )
    lease_client = access.client(user_agent="descheduler")  # a lease must not wait behind evictions
    # A dry run disturbs nobody, so that it needs no lease.
    chosen = None if options.dry_run else election(options)
    manager = Manager(client, election=chosen, election_client=lease_client)
    manager.add_task("descheduler", descheduler.run)
    if not options.disable_metrics:
        manager.metrics.more.append(descheduler.metrics.write)
    manager.ready.add("informer-sync", lambda: descheduler.check() if manager.working.is_set() else None)
    try:
        if options.secure_port:
            await _secure_serving.serve(manager, options, "descheduler", where)
        await until_signal(manager.run())
    finally:
        await manager.stop_serving()
        await client.close()
        await lease_client.close()
    return 0
