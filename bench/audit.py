"""pyb bench audit: what the audit log costs the API server, by level."""

import argparse
import contextlib
import json
import statistics
import tempfile
from pathlib import Path

from bench.crds import READS, WRITES, Side
from bench.harness.machine import describe_machine
from bench.harness.own_server import OwnServer

SUMMARY = "audit: CPU of a request without an audit log and at each of its levels; starts its own servers"
LEVELS = ("off", "Metadata", "Request", "RequestResponse")


def main(argv: list[str]) -> int:
    """Measure and print a table, or one JSON object with --json."""
    parser = argparse.ArgumentParser(prog="pyb bench audit", description=__doc__)
    parser.add_argument("--turns", type=int, default=15, help="of each server")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pyb-bench-")))
        servers = {
            level: stack.enter_context(OwnServer("--alone", *flags(level, folder))) for level in LEVELS
        }
        figures = measure(
            {level: Side(server.target, server.pid) for level, server in servers.items()}, options.turns
        )
    if options.json:
        print(json.dumps({"benchmark": "audit", "machine": describe_machine(), "results": figures}))
        return 0
    print(f"{'CPU µs':<20}" + "".join(f"{level:>17}" for level in LEVELS))
    for name, costs in figures.items():
        print(f"{name:<20}" + "".join(f"{costs[level]:17.0f}" for level in LEVELS))
    return 0


def flags(level: str, folder: Path) -> list[str]:
    """Return the flags of a server that notes everything at a level."""
    if level == "off":
        return []
    policy = folder / f"{level}.json"
    rules = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": level}]}
    policy.write_text(json.dumps(rules))
    return [f"--audit-policy-file={policy}", f"--audit-log-path={folder / level}.log"]


def measure(sides: dict[str, Side], turns: int) -> dict[str, dict[str, float]]:
    """Return the median CPU of a read and of a creation with a deletion, the servers taking turns."""
    figures = {}
    for name, work, count in (("GET", Side.read, READS), ("POST and DELETE", Side.write, WRITES)):
        costs: dict[str, list[float]] = {level: [] for level in sides}
        for turn in range(turns + 1):
            for level, side in sides.items():
                cost = side.cost(work)[0] / count * 1e6
                if turn:  # the first one warms up
                    costs[level].append(cost)
        figures[name] = {level: statistics.median(many) for level, many in costs.items()}
    return figures
