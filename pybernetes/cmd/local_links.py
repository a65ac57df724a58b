"""local-links: keeps the ways from other clusters of this machine to the pods of one; ``pyb federation connect`` starts it."""

from __future__ import annotations

import argparse

from pybernetes.cmd._program import run, until_signal

SUMMARY = "Keep the ways between the pods of connected clusters of this machine"


def main(argv: list[str]) -> int:
    """Run until told to stop."""
    parser = argparse.ArgumentParser(prog="local-links", description=SUMMARY, allow_abbrev=False)
    parser.add_argument("--cluster", required=True, help="name of the cluster")
    arguments = parser.parse_args(argv)
    return run("local-links", _serve(arguments.cluster))


async def _serve(name: str) -> int:
    from pybernetes.tools.local.network.links import Links
    from pybernetes.tools.local.paths import Cluster

    await until_signal(Links(Cluster(name)).run())
    return 0
