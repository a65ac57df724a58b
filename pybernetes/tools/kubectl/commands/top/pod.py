"""top pod."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands.top._metrics import cells, check_sort, cpu, memory, resource
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.output.table import columns

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Display resource (CPU/memory) usage of pods"
USAGE = "top pod [NAME | -l label]"
COMPLETION = "names pods"
ALIASES = ("pods", "po")
FLAGS = (shared_flags.SELECTOR, shared_flags.FIELD_SELECTOR, shared_flags.ALL_NAMESPACES, """
- containers bool false | a line for each container
- no-headers bool false | leave the headings out
- show-swap bool false | show swap too
- sort-by string | cpu or memory
- sum bool false | add a line with the sum
- use-protocol-buffers bool true | accepted; JSON is used
""")  # fmt: skip


def run(context: Context) -> None:
    """Print a line for each pod, or for each container."""
    flags = context.flags
    if len(context.args) > 1:
        raise context.usage("pod [NAME | -l label]")
    check_sort(flags.sort_by)
    if context.args and (flags.selector or flags.field_selector):
        raise CommandError("only one of NAME or selector can be provided")
    metrics = resource(context, "pods")
    namespace = "" if flags.all_namespaces else context.namespace
    if context.args:
        items = [context.client.get(metrics, namespace, context.args[0])]
    else:
        items = (
            context.client.list(metrics, namespace, labels=flags.selector, fields=flags.field_selector).get(
                "items"
            )
            or []
        )
    if not items:
        where = "" if flags.all_namespaces else f" in {context.namespace} namespace."
        context.warn(f"No resources found{where}")
        return
    _print(context, items)


def _print(context: Context, items: list[Object]) -> None:
    flags = context.flags
    usages = []
    for item in items:
        parts = [
            (container["name"], cpu(container["usage"]), memory(container["usage"]))
            for container in item.get("containers") or ()
        ]
        usages.append(
            (item["metadata"], sum(part[1] for part in parts), sum(part[2] for part in parts), parts)
        )
    orders: Object = {"cpu": lambda usage: -usage[1], "memory": lambda usage: -usage[2]}
    usages.sort(
        key=orders.get(flags.sort_by, lambda usage: (usage[0].get("namespace", ""), usage[0]["name"]))
    )
    prefix = ["NAMESPACE"] if flags.all_namespaces else []
    headings = [*prefix, "POD", "NAME"] if flags.containers else [*prefix, "NAME"]
    rows = [] if flags.no_headers else [[*headings, "CPU(cores)", "MEMORY(bytes)", ""]]
    for metadata, millis, size, parts in usages:
        first = [metadata.get("namespace", "")] if flags.all_namespaces else []
        if flags.containers:
            rows += [
                [*first, metadata["name"], name, *cells(part, bytes_), ""] for name, part, bytes_ in parts
            ]
        else:
            rows.append([*first, metadata["name"], *cells(millis, size), ""])
    if flags.sum:
        blanks = [""] * (len(headings))
        rows.append([*blanks, "________", "________", ""])
        rows.append(
            [*blanks, *cells(sum(usage[1] for usage in usages), sum(usage[2] for usage in usages)), ""]
        )
    context.stdout.write(columns(rows))
