"""What the commands on a local cluster share: naming the cluster, and errors for people."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pybernetes.tools.local.paths import Cluster


def parser(program: str, summary: str, *, positional: bool = True) -> argparse.ArgumentParser:
    """Return a parser that takes the name of a cluster: as ``--cluster``, and as its first word if that is free."""
    result = argparse.ArgumentParser(prog=f"pyb {program}", description=summary, allow_abbrev=False)
    if positional:
        result.add_argument("name", nargs="?", default="", help="name of the cluster (default: the only one)")
    result.add_argument("--cluster", default="", metavar="NAME", help="name of the cluster")
    return result


def run(program: str, arguments: argparse.Namespace, work: Callable[[Cluster], int | None]) -> int:
    """Work on the cluster that was named, and return the exit code; errors become a message."""
    from pybernetes.node.containerd.images import ImageError
    from pybernetes.node.containerd.requirements import RuntimeMissing
    from pybernetes.tools.local import paths
    from pybernetes.tools.local.admin_client import ApiError

    try:
        return work(paths.find(getattr(arguments, "name", "") or arguments.cluster)) or 0
    except (paths.ClusterError, RuntimeMissing, ImageError, ApiError, ValueError, OSError) as error:
        print(f"pyb {program}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"pyb {program}: interrupted; the same command goes on from here", file=sys.stderr)
        return 130


def on_cluster(program: str, summary: str, argv: list[str], work: Callable[[Cluster], int | None]) -> int:
    """Parse the name of a cluster, which is all that the command takes, and work on it."""
    return run(program, parser(program, summary).parse_args(argv), work)
