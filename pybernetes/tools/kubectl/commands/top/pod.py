"""top pod."""

from __future__ import annotations

import time

from pybernetes.api.text.durations import show_duration
from pybernetes.lib import rfc3339
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands.top._metrics import cell, check_sort, measured, resource, total
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

_HEADINGS = {"cpu": "CPU(cores)", "memory": "MEMORY(bytes)", "swap": "SWAP(bytes)"}
_DELAY_SECONDS = 120.0


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
        items = context.client.list(metrics, namespace, labels=flags.selector).get("items") or []
    if items and flags.field_selector:
        chosen = {_key(pod) for pod in _pods(context, namespace)}
        items = [item for item in items if _key(item) in chosen]
    if items:
        _print(context, items)
        return
    pods = _pods(context, context.namespace)
    for pod in pods:
        age = time.time() - rfc3339.parse(pod["metadata"]["creationTimestamp"])
        if age > _DELAY_SECONDS:
            raise CommandError(f"Metrics not available for pod {_key(pod)}, age: {show_duration(age)}")
    if pods:
        raise CommandError("metrics not available yet")
    context.warn(
        "No resources found" + ("" if flags.all_namespaces else f" in {context.namespace} namespace.")
    )


def _pods(context: Context, namespace: str) -> list[Object]:
    flags = context.flags
    pods = context.client.list(
        context.discovery.find("pods"), namespace, labels=flags.selector, fields=flags.field_selector
    )
    return pods.get("items") or []


def _key(obj: Object) -> str:
    return f"{obj['metadata'].get('namespace', '')}/{obj['metadata']['name']}"


def _print(context: Context, items: list[Object]) -> None:
    flags, names = context.flags, measured(context.flags.show_swap)
    figures = []
    for item in items:
        parts = [
            (container["name"], total([container["usage"]])) for container in item.get("containers") or ()
        ]
        parts.sort(key=lambda part: -part[1][flags.sort_by] if flags.sort_by else part[0])
        used = total(container["usage"] for container in item.get("containers") or ())
        figures.append((item["metadata"], used, parts))
    figures.sort(
        key=lambda figure: (
            -figure[1][flags.sort_by]
            if flags.sort_by
            else (figure[0].get("namespace", "") if flags.all_namespaces else "", figure[0]["name"])
        )
    )
    prefix = ["NAMESPACE"] if flags.all_namespaces else []
    prefix += ["POD"] if flags.containers else []
    headings = [*prefix, "NAME", *(_HEADINGS[name] for name in names)]
    rows = [] if flags.no_headers else [headings]
    for metadata, used, parts in figures:
        first = [metadata.get("namespace", "")] if flags.all_namespaces else []
        if flags.containers:
            rows += [
                [*first, metadata["name"], name, *(cell(part, own[part]) for part in names)]
                for name, own in parts
            ]
        else:
            rows.append([*first, metadata["name"], *(cell(part, used[part]) for part in names)])
    if flags.sum:
        # Without headings the original takes no notice of the columns that come first.
        width = len(names) + 1 if flags.no_headers else len(headings)
        everything = total(container["usage"] for item in items for container in item.get("containers") or ())
        rows.append([""] * (width - 2) + ["________", "________"])
        rows.append([""] * (width - 2) + [cell(name, everything[name]) for name in names])
    context.stdout.write(columns([[*row, ""] for row in rows]))
