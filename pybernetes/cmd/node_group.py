"""node-group: makes, lists, scales and deletes groups of nodes of a local cluster."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from pybernetes.cmd._cluster import parser, run

if TYPE_CHECKING:
    from pybernetes.tools.local.paths import Cluster
    from pybernetes.tools.local.settings import NodeGroup

SUMMARY = "Create, list, scale or delete a group of nodes of a local cluster"
_COLUMNS = ("NAME", "NODES", "MINIMUM", "MAXIMUM", "KIND", "ROLE", "LABELS", "TAINTS")


def read(argv: list[str]) -> argparse.Namespace:
    """Parse the command line."""
    line = parser("node-group", SUMMARY, positional=False)
    line.add_argument("verb", choices=("create", "list", "scale", "delete"))
    line.add_argument("group", nargs="?", default="", help="name of the group")
    add = line.add_argument
    add("--minimum", type=int, default=0, metavar="N", help="how many nodes it has at least (default: 0)")
    add("--maximum", type=int, default=10, metavar="N", help="how many nodes it has at most (default: 10)")
    add("--size", type=int, default=-1, metavar="N", help="how many nodes it has (default: the minimum)")
    add("--hollow", action="store_true", help="its nodes only pretend; without it they run real containers")
    add("--labels", default="", metavar="KEY=VALUE,…", help="labels of its nodes")
    add("--taint", action="append", default=[], metavar="KEY=VALUE:EFFECT", help="a taint of its nodes")
    add(
        "--resources",
        default="",
        metavar="NAME=AMOUNT,…",
        help="what pods may have of each: cpu=2,memory=4Gi",
    )
    add("--role", default="", help="its nodes have the label node-role.kubernetes.io/ROLE")
    arguments = line.parse_intermixed_args(argv)
    if arguments.verb != "list" and not arguments.group:
        line.error("which group?")
    if arguments.verb == "scale" and arguments.size < 0:
        line.error("scale needs --size")
    return arguments


def main(argv: list[str]) -> int:
    """Do what the verb says."""
    arguments = read(argv)
    from pybernetes.tools.local.nodes import node_groups

    def work(cluster: Cluster) -> None:
        name = arguments.group
        if arguments.verb == "create":
            added = node_groups.create(cluster, _group(arguments))
            print(
                f"the node group {name} is created with {len(added)} nodes: {', '.join(added) or 'none yet'}"
            )
        elif arguments.verb == "delete":
            node_groups.delete(cluster, name)
            print(f"the node group {name} is deleted")
        elif arguments.verb == "scale":
            node_groups.scale(cluster, name, arguments.size)
            print(f"the node group {name} has {arguments.size} nodes")
        else:
            _print(cluster)

    return run("node-group", arguments, work)


def _group(arguments: argparse.Namespace) -> NodeGroup:
    from pybernetes.tools.local.nodes import node_group
    from pybernetes.tools.local.settings import NodeGroup

    return NodeGroup(
        arguments.group,
        arguments.minimum,
        arguments.maximum,
        arguments.size,
        arguments.hollow,
        node_group.read_labels(arguments.labels),
        arguments.taint,
        node_group.read_labels(arguments.resources),
        arguments.role,
    )


def _print(cluster: Cluster) -> None:
    from pybernetes.tools.local.nodes import node_groups

    rows = [_COLUMNS]
    for group, names in node_groups.states(cluster):
        labels = ",".join(f"{key}={value}" for key, value in group.labels.items())
        kind = "hollow" if group.hollow else "real"
        rows.append(
            (group.name, str(len(names)), str(group.minimum), str(group.maximum), kind, group.role or "-",
             labels or "-", ",".join(group.taints) or "-")
        )  # fmt: skip
    widths = [max(len(row[number]) for row in rows) for number in range(len(_COLUMNS))]
    for row in rows:
        print("   ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
