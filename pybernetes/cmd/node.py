"""node: adds, removes, stops and starts nodes of a local cluster, and opens a shell in one."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from pybernetes.cmd._cluster import parser, run

if TYPE_CHECKING:
    from pybernetes.tools.local.paths import Cluster

SUMMARY = "Add, remove, stop or start a node of a local cluster, or open a shell in it"
VERBS = {"rm": "removed", "stop": "stopped", "start": "started"}


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
    end = argv.index("--") if "--" in argv else len(argv)
    arguments = line.parse_intermixed_args(argv[:end])
    arguments.command = [*arguments.command, *argv[end + 1 :]]
    if arguments.verb != "add" and not arguments.node:
        line.error("which node?")
    if arguments.verb != "add" and (arguments.labels or arguments.taint):
        line.error("--labels and --taint are for a node that is added")
    return arguments


def main(argv: list[str]) -> int:
    """Do what the verb says."""
    arguments = read(argv)
    from pybernetes.tools.local import node_group, nodes

    def work(cluster: Cluster) -> None:
        if arguments.verb == "add":
            labels = node_group.read_labels(arguments.labels)
            print(f"the node {nodes.add(cluster, labels, arguments.taint)} is added")
        elif arguments.verb == "shell":
            command = nodes.shell(cluster, arguments.node, arguments.command)
            os.execvp(command[0], command)
        else:
            act = {"rm": nodes.remove, "stop": nodes.stop, "start": nodes.start}[arguments.verb]
            act(cluster, arguments.node)
            print(f"the node {arguments.node} is {VERBS[arguments.verb]}")

    return run("node", arguments, work)
