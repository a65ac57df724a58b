"""get --watch: shows objects, then every change."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.get import as_table, builder, printer_of
from pybernetes.tools.kubectl.connection.client import JSON, TABLE
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, not_found
from pybernetes.tools.kubectl.output.table import TablePrinter, columns
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


class _Growing:
    """Lines whose columns keep the widths that they once had."""

    def __init__(self, context: Context) -> None:
        self._context, self._widths = context, []  # type: ignore[var-annotated]

    def write(self, rows: list[list[str]]) -> None:
        if not rows:
            return
        count = max(len(row) for row in rows)
        shadow = [
            [" " * max(0, width - 3) for width in self._widths[:count]] + [""] * (count - len(self._widths))
        ]
        text = columns([*shadow, *rows])
        lines = text.split("\n")[1:]
        self._widths = [
            max(
                [
                    *(max(len(row[place]) + 3, 6) for row in rows if place < len(row) - 1),
                    *self._widths[place : place + 1],
                ],
                default=6,
            )
            for place in range(count - 1)
        ]
        self._context.stdout.write("\n".join(lines))
        self._context.stdout.flush()


def _refuse_list(value: Object) -> None:
    if (value["apiVersion"], value["kind"]) == ("v1", "List"):
        raise CommandError(
            "watch is only supported on individual resources and resource collections, but a list of resources is found"
        )


def watch(context: Context, human: bool) -> None:
    """List what is there, then print what changes until interrupted."""
    flags = context.flags
    source = builder(context, human, single_type=True, flatten=False, accepts=_refuse_list)
    try:
        infos = source.all()
    except CommandError as error:
        if not_found(error) and flags.ignore_not_found:
            return
        raise
    if not infos:
        raise CommandError("no resources to watch")
    if len({info.resource for info in infos}) > 1:
        raise CommandError(
            "watch is only supported on individual resources and resource collections - more than 1 resource was found"
        )
    info = infos[0]
    value = info.object
    single = bool(info.name)
    show = _shower(context, info, human)
    if not flags.watch_only:
        for listed in infos:
            show(listed.object, "ADDED" if flags.output_watch_events else "")
    if len(infos) > 1 and source.filenames and not source.one_file:
        raise CommandError("you may only watch a single resource or type of resource at a time")
    if len(infos) > 1:
        raise CommandError(
            f"watch is only supported on individual resources and resource collections - {len(infos)} resources were "
            "found"
        )
    query: dict[str, Any] = {"labels": source.labels, "fields": source.fields}
    if single:
        query["fields"] = f"metadata.name={info.name}"
    # As the original: from about now, which sends the object once more. Its own version may be too old to begin at.
    query["resourceVersion"] = "0" if single else (value.get("metadata") or {}).get("resourceVersion") or ""
    accept = TABLE if human and flags.server_print else JSON
    namespace = info.namespace if info.resource.namespaced else ""
    first = single
    for event in context.client.watch(info.resource, namespace, accept=accept, **query):
        if event.get("type") == "BOOKMARK":
            continue
        if event.get("type") == "ERROR":
            raise CommandError((event.get("object") or {}).get("message") or "the watch ended")
        if first:
            first = False
            continue
        show(event["object"], event["type"] if flags.output_watch_events else "")


def _shower(context: Context, info: Info, human: bool) -> Any:
    flags = context.flags
    if human:
        kind = info.resource.kind_name if flags.show_kind else ""
        with_namespace = flags.all_namespaces and info.resource.namespaced
        printer, out = TablePrinter(flags, kind=kind, with_namespace=with_namespace), _Growing(context)
        return lambda value, event: out.write(printer.rows(as_table(value), event))
    show = printer_of(context)

    def one(value: Object, event: str) -> None:
        items = value["items"] if isinstance(value.get("items"), list) else [value]
        for item in items:
            if "kind" not in item:
                item = {"apiVersion": info.resource.api_version, "kind": info.resource.kind, **item}
            show({"type": event, "object": item} if event else item)
        context.stdout.flush()

    return one
