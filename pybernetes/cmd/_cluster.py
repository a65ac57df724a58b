"""What the commands on a local cluster share: naming the cluster, and errors for people."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pybernetes.tools.local.places import Cluster


def on_cluster(program: str, summary: str, argv: list[str], work: Callable[[Cluster], None]) -> int:
    """Parses the name of a cluster and works on it."""
    parser = argparse.ArgumentParser(prog=f"pyb {program}", description=summary, allow_abbrev=False)
    parser.add_argument("name", nargs="?", default="", help="name of the cluster (default: the only one)")
    arguments = parser.parse_args(argv)
    from pybernetes.tools.local import lifecycle, places

    try:
        work(places.find(arguments.name))
    except (lifecycle.ClusterError, places.NoSuchCluster, ValueError, OSError) as error:
        print(f"pyb {program}: {error}", file=sys.stderr)
        return 1
    return 0
