"""top node."""

from __future__ import annotations

from pybernetes.api.quantity import integer, milli
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands.top._metrics import cells, check_sort, cpu, memory, resource
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.output.table import columns

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
    key = "capacity" if flags.show_capacity else "allocatable"
    whole = {node["metadata"]["name"]: (node.get("status") or {}).get(key) or {} for node in known}
    measured = [(usage["metadata"]["name"], cpu(usage["usage"]), memory(usage["usage"])) for usage in usages]
    order = {"cpu": lambda usage: -usage[1], "memory": lambda usage: -usage[2]}.get(
        flags.sort_by, lambda usage: usage[0]
    )
    rows = [] if flags.no_headers else [["NAME", "CPU(cores)", "CPU(%)", "MEMORY(bytes)", "MEMORY(%)"]]
    for name, millis, size in sorted(measured, key=order):
        total = whole.get(name) or {}
        shown = cells(millis, size)
        shares = [
            _share(millis, milli(total.get("cpu") or "0")),
            _share(size, integer(total.get("memory") or "0")),
        ]
        rows.append([name, shown[0], shares[0], shown[1], shares[1], ""])
    context.stdout.write(columns([[*row, ""] if len(row) == 5 else row for row in rows]))


def _share(part: int, whole: int) -> str:
    return f"{int(part / whole * 100)}%" if whole else "<unknown>"
