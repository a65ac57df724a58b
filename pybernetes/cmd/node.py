"""node: adds and removes nodes of a local cluster, opens a shell in one, and does to it what happens to machines."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from pybernetes.cmd._cluster import parser, run

if TYPE_CHECKING:
    from pybernetes.tools.local.paths import Cluster

SUMMARY = "Add, remove, stop, start or disturb a node of a local cluster, or open a shell in it"
VERBS = {
    "rm": "removed",
    "stop": "stopped",
    "start": "started",
    "pause": "paused",
    "partition": "cut off",
    "heal": "healed",
    "slow-disk": "slowed down",
}
_OPERATIONS = 20  # of a slow disk, in a second


def read(argv: list[str]) -> argparse.Namespace:
    """Parse the command line: flags may stand anywhere before --, and what follows it is a command."""
    line = parser("node", SUMMARY, positional=False)
    line.add_argument("verb", choices=("add", *VERBS, "shell"))
    line.add_argument("node", nargs="?", default="", help="name of the node")
    line.add_argument("command", nargs="*", help="what to run in place of a shell (after --)")
    line.add_argument("--labels", default="", metavar="KEY=VALUE,…", help="labels of the added node")
    line.add_argument(
        "--taint", action="append", default=[], metavar="KEY=VALUE:EFFECT", help="a taint of the added node"
    )
    line.add_argument(
        "--control-plane",
        action="store_true",
        help="add a control plane, to a cluster that has machines for them",
    )
    line.add_argument(
        "--from",
        dest="others",
        nargs="+",
        action="extend",
        default=[],
        metavar="NODE",
        help="what a node is cut off from: nodes, or @host for this machine (default: everything)",
    )
    line.add_argument(
        "--operations", type=int, metavar="N", help=f"of a slow disk in a second (default: {_OPERATIONS})"
    )
    end = argv.index("--") if "--" in argv else len(argv)
    arguments = line.parse_intermixed_args(argv[:end])
    arguments.command = [*arguments.command, *argv[end + 1 :]]
    if arguments.verb != "add" and not arguments.node:
        line.error("which node?")
    if arguments.verb != "add" and (arguments.labels or arguments.taint):
        line.error("--labels and --taint are for a node that is added")
    if arguments.verb != "add" and arguments.control_plane:
        line.error("--control-plane is for a node that is added")
    if arguments.others and arguments.verb != "partition":
        line.error("--from is for partition")
    if arguments.operations is not None and arguments.verb != "slow-disk":
        line.error("--operations is for slow-disk")
    return arguments


def main(argv: list[str]) -> int:
    """Do what the verb says."""
    arguments = read(argv)
    from pybernetes.tools.local.nodes import node_group, nodes

    def work(cluster: Cluster) -> None:
        if arguments.verb == "add":
            labels = node_group.read_labels(arguments.labels)
            role = "control-plane" if arguments.control_plane else ""
            print(f"the node {nodes.add(cluster, labels, arguments.taint, role)} is added")
        elif arguments.verb == "shell":
            command = nodes.shell(cluster, arguments.node, arguments.command)
            os.execvp(command[0], command)
        else:
            act: dict[str, Callable[[Cluster, str], None]] = {
                "rm": nodes.remove,
                "stop": nodes.stop,
                "start": nodes.start,
                "pause": nodes.pause,
                "heal": nodes.heal,
                "partition": lambda cluster, node: nodes.cut_off(cluster, node, arguments.others),
                "slow-disk": lambda cluster, node: nodes.slow_down(
                    cluster, node, _OPERATIONS if arguments.operations is None else arguments.operations
                ),
            }
            act[arguments.verb](cluster, arguments.node)
            print(f"the node {arguments.node} is {VERBS[arguments.verb]}")

    return run("node", arguments, work)
