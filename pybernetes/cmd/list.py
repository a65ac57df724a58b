"""list: the local clusters."""

from __future__ import annotations

import argparse

SUMMARY = "List the local clusters"


def main(argv: list[str]) -> int:
    """Prints every cluster and whether it runs."""
    argparse.ArgumentParser(prog="pyb list", description=SUMMARY).parse_args(argv)
    from pybernetes.tools.local import daemons, lifecycle, places

    for cluster in places.clusters():
        pid = daemons.running(cluster.pid(lifecycle.CONTROL_PLANE))
        print(f"{cluster.name:<24} {'running' if pid else 'stopped'}")
    return 0
