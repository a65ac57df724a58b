"""top node."""

from __future__ import annotations

from pybernetes.api import quantity
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands.top._metrics import (
    UNKNOWN,
    Usage,
    cell,
    check_sort,
    measured,
    resource,
    share,
    total,
)
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.output.table import columns

if TYPE_CHECKING:
    from pybernetes.api.resource import Object

SUMMARY = "Display resource (CPU/memory) usage of nodes"
USAGE = "top node [NAME | -l label]"
COMPLETION = "names nodes"
ALIASES = ("nodes", "no")
FLAGS = (shared_flags.SELECTOR, """
- no-headers bool false | leave the headings out
- show-capacity bool false | shares of the capacity instead of what is allocatable
- show-swap bool false | show swap too
- sort-by string | cpu or memory
- use-protocol-buffers bool true | accepted; JSON is used
""")  # fmt: skip

_HEADINGS = {
    "cpu": ("CPU(cores)", "CPU(%)"),
    "memory": ("MEMORY(bytes)", "MEMORY(%)"),
    "swap": ("SWAP(bytes)", "SWAP(%)"),
}


def run(context: Context) -> None:
    """Print a line for each node."""
    flags = context.flags
    if len(context.args) > 1:
        raise context.usage("node [NAME | -l label]")
    check_sort(flags.sort_by)
    if context.args and flags.selector:
        raise CommandError("only one of NAME or --selector can be provided")
    metrics = resource(context, "nodes")
    nodes = context.discovery.find("nodes")
    if context.args:
        usages = [context.client.get(metrics, "", context.args[0])]
        known = [context.client.get(nodes, "", context.args[0])]
    else:
        usages = context.client.list(metrics, labels=flags.selector).get("items") or []
        known = context.client.list(nodes, labels=flags.selector).get("items") or []
    if not usages:
        raise CommandError("metrics not available yet")
    names = measured(flags.show_swap)
    available = {node["metadata"]["name"]: _available(node, flags.show_capacity) for node in known}
    figures = [(usage["metadata"]["name"], total([usage["usage"]])) for usage in usages]
    figures.sort(key=lambda figure: -figure[1][flags.sort_by] if flags.sort_by else figure[0])
    rows = [] if flags.no_headers else [["NAME", *(heading for name in names for heading in _HEADINGS[name])]]
    for name, used in figures:
        rows.append([name, *(text for part in names for text in _cells(part, used, available.get(name)))])
    measured_nodes = {name for name, _ in figures}
    rows += [[name] + [UNKNOWN] * (2 * len(names)) for name in sorted(available.keys() - measured_nodes)]
    context.stdout.write(columns([[*row, ""] for row in rows]))


def _available(node: Object, capacity: bool) -> Usage:
    status = node.get("status") or {}
    resources = dict(status.get("capacity" if capacity else "allocatable") or {})
    swap = ((status.get("nodeInfo") or {}).get("swap") or {}).get("capacity")
    if swap is not None:
        resources["swap"] = str(swap)
    return {name: quantity.parse(resources[name]) for name in _HEADINGS if name in resources}


def _cells(name: str, used: Usage, available: Usage | None) -> list[str]:
    if name == "swap" and available is not None and name not in available:
        return [UNKNOWN, UNKNOWN]
    if available is None or name not in available:
        return [cell(name, used[name])]  # as the original does, without a share
    return [cell(name, used[name]), share(used[name], available[name])]
