"""local-supervisor: keeps the programs of a local cluster running; ``pyb up`` starts it."""

from __future__ import annotations

import argparse

SUMMARY = "Keep the programs of a local cluster running"


def main(argv: list[str]) -> int:
    """Run until told to stop."""
    parser = argparse.ArgumentParser(prog="local-supervisor", description=SUMMARY, allow_abbrev=False)
    parser.add_argument("--cluster", required=True, help="name of the cluster")
    arguments = parser.parse_args(argv)
    from pybernetes.tools.local import ownership, processes, settings
    from pybernetes.tools.local.paths import Cluster
    from pybernetes.tools.local.supervisor import Supervisor

    cluster = Cluster(arguments.cluster)

    def wanted() -> tuple[list[processes.ProcessSpec], bool]:
        now = settings.load(cluster)
        closed = bool(now.user) and ownership.is_closed(cluster, now)
        return processes.desired_processes(cluster, now, closed), now.paused

    Supervisor(wanted, cluster.log, cluster.processes).run()
    return 0
