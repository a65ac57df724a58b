"""logs: what the programs of a local cluster wrote."""

from __future__ import annotations

import sys

from pybernetes.cmd._cluster import parser, run

SUMMARY = "Print what a program of a local cluster wrote"


def main(argv: list[str]) -> int:
    """Print the log of the control plane, or of the program that is named."""
    line = parser("logs", SUMMARY, positional=False)
    line.add_argument("component", nargs="?", default="control-plane", help="a program that pyb status names")
    line.add_argument("--tail", type=int, default=-1, metavar="N", help="only the last lines")
    arguments = line.parse_args(argv)
    from pybernetes.tools.local.paths import Cluster

    def show(cluster: Cluster) -> int:
        log = cluster.log(arguments.component)
        if not log.exists():
            names = ", ".join(sorted(path.stem for path in cluster.logs.glob("*.log"))) or "none yet"
            print(f"pyb logs: {arguments.component!r} has no log; there are: {names}", file=sys.stderr)
            return 1
        lines = log.read_text(errors="replace").splitlines(keepends=True)
        sys.stdout.write("".join(lines[-arguments.tail :] if arguments.tail >= 0 else lines))
        return 0

    return run("logs", arguments, show)
