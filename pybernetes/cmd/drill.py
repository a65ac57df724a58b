"""drill: makes something fail in a local cluster with several control planes, and says what clients saw."""

from __future__ import annotations

import sys

from pybernetes.cmd._cluster import parser, run

SUMMARY = "Make something fail in a local cluster with several control planes, and say what clients saw of it"


def main(argv: list[str]) -> int:
    """Carry out the drills; the exit code is 1 if one was not good."""
    line = parser("drill", SUMMARY, positional=False)
    line.add_argument("names", nargs="*", metavar="NAME", help="drills to carry out (default: all)")
    line.add_argument("--list", action="store_true", help="list the drills")
    line.add_argument(
        "--seconds",
        type=float,
        default=0.0,
        metavar="N",
        help="let clients work for at least so long in each drill",
    )
    line.add_argument("--runs", type=int, default=1, metavar="N", help="carry each drill out so many times")
    line.add_argument("-o", "--output", choices=("text", "json"), default="text", help="form of the report")
    arguments = line.parse_args(argv)
    from pybernetes.tools.local.drill import drill, report
    from pybernetes.tools.local.paths import Cluster

    if arguments.list:
        for name, known in drill.drills().items():
            print(f"{name:22} {known.summary}")
        return 0

    def work(cluster: Cluster) -> int:
        import asyncio

        outcomes = []
        for name in drill.check(cluster, arguments.names):
            for _ in range(arguments.runs):
                print(f"{name} …", file=sys.stderr, flush=True)
                outcomes.append(asyncio.run(drill.carry_out(cluster, name, arguments.seconds)))
        print(report.as_json(outcomes) if arguments.output == "json" else report.as_text(outcomes))
        return 0 if all(outcome.is_good for outcome in outcomes) else 1

    return run("drill", arguments, work)
