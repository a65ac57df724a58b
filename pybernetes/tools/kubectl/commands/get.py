"""get: shows objects."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.connection.client import JSON, TABLE
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import (
    ApiError,
    CommandError,
    NoConnection,
    NoMatch,
    Several,
    Verbatim,
    not_found,
    raise_all,
)
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object

SUMMARY = "Display one or many resources"
USAGE = "get [(-o|--output=)FORMAT] (TYPE[.VERSION][.GROUP] [NAME | -l label] | TYPE[.VERSION][.GROUP]/NAME ...) [flags]"
COMPLETION = "types"
FLAGS = (
    shared_flags.TEMPLATE, shared_flags.FILES, shared_flags.SELECTOR, shared_flags.FIELD_SELECTOR, shared_flags.ALL_NAMESPACES,
    shared_flags.CHUNK,
    """
o output string | output format: json, yaml, kyaml, name, go-template, go-template-file, template, templatefile, jsonpath, jsonpath-as-json, jsonpath-file, custom-columns, custom-columns-file, wide
- ignore-not-found bool false | objects that do not exist are no error
L label-columns list | labels to show as columns
- no-headers bool false | leave the headings out
- output-watch-events bool false | with --watch, show the events with their types
- raw string | path to request from the server as it is
- server-print bool true | let the server make the table
- show-kind bool false | show the type with each name
- show-labels bool false | show all labels in the last column
- sort-by string | JSONPath of the field to sort by
- subresource string | get this subresource of the object
w watch bool false | after listing, watch for changes
- watch-only bool false | watch for changes without listing
""",
)  # fmt: skip
_FORMATS = ("custom-columns", "custom-columns-file", "wide")


def run(context: Context) -> None:
    """Show what the arguments name."""
    flags = context.flags
    if flags.raw:
        _raw(context)
        return
    _check(context)
    human = (not flags.output and not flags.template) or flags.output == "wide"
    if flags.watch or flags.watch_only:
        from pybernetes.tools.kubectl.commands._watching import watch

        watch(context, human)
    elif human:
        _tables(context)
    else:
        _generic(context)


def _raw(context: Context) -> None:
    flags = context.flags
    if context.args:
        raise CommandError("arguments may not be passed when --raw is specified")
    if flags.watch or flags.watch_only or flags.selector:
        raise CommandError(
            "--raw may not be specified with other flags that filter the server request or alter the output"
        )
    if flags.output:
        raise CommandError("--raw and --output are mutually exclusive")
    from pybernetes.tools.kubectl.commands._raw_request import request

    request(context, "GET", flags.raw)


def _check(context: Context) -> None:
    flags = context.flags
    if (
        not context.args
        and not flags.filename
        and not flags.kustomize
        and not (flags.watch or flags.watch_only)
    ):
        context.warn(
            'You must specify the type of resource to get. Use "kubectl api-resources" for a complete list of '
            "supported resources.\n"
        )
        raise context.usage(
            "Required resource not specified.\n"
            'Use "kubectl explain <resource>" for a detailed description of that resource (e.g. kubectl explain pods).'
        )
    if flags.show_labels and flags.output not in ("", "wide"):
        raise CommandError(f"--show-labels option cannot be used with {flags.output} printer")
    if flags.label_columns and flags.output.startswith("custom-columns"):
        raise CommandError(f"--label-columns option cannot be used with {flags.output} printer")
    if flags.output_watch_events and not (flags.watch or flags.watch_only):
        raise CommandError("--output-watch-events option can only be used with --watch or --watch-only")
    if flags.sort_by and (flags.watch or flags.watch_only):
        which = "watch requested, --sort-by will be ignored for watch events received"
        context.warn(
            f"warning: --{which if flags.watch else 'watch-only requested, --sort-by will be ignored'}"
        )


def builder(context: Context, human: bool, **options: Any) -> Builder:
    """Return the builder for what get looks for."""
    flags = context.flags
    tables = human and flags.server_print
    query = {"includeObject": "Object"} if tables and flags.sort_by else {}
    chunk = 0 if flags.sort_by else flags.chunk_size
    return Builder.from_flags(
        context, empty_selector=True, latest=True, accept=TABLE if tables else JSON, query=query, chunk=chunk,
        subresource=flags.subresource, ignore=not_found if flags.ignore_not_found else None, **options,
    )  # fmt: skip


def _tables(context: Context) -> None:
    from pybernetes.tools.kubectl.output.table import TablePrinter, columns

    flags = context.flags
    source = builder(context, True, continue_on_error=True, lists_together=True)
    infos = source.all()
    if flags.sort_by:
        from pybernetes.tools.kubectl.output.sorting import sort_tables

        infos = sort_tables(infos, flags.sort_by)
    with_kind = flags.show_kind or len({info.resource for info in infos}) > 1
    blocks: list[tuple[Any, TablePrinter, list[list[str]]]] = []
    with_namespace = False
    for info in infos:
        if not blocks or blocks[-1][0] != info.resource:
            kind = info.resource.kind_name if with_kind else ""
            # As the original: once there is the column, it stays.
            with_namespace = (with_namespace or info.resource.namespaced) and flags.all_namespaces
            blocks.append((info.resource, TablePrinter(flags, kind=kind, with_namespace=with_namespace), []))
        blocks[-1][2].extend(blocks[-1][1].rows(as_table(info.object)))
    texts = [columns(rows) for _, _, rows in blocks if rows]
    context.stdout.write("".join(texts) if flags.no_headers else "\n".join(texts))
    if not texts and not source.errors and not flags.ignore_not_found:
        namespaced = not flags.all_namespaces and all(info.resource.namespaced for info in infos)
        where = f" in {context.namespace} namespace." if namespaced else ""
        context.warn(f"No resources found{where}")
    _raise(source)


def as_table(value: Object) -> Object:
    """Return the server's table; or, for an object that is not one, its name and age."""
    if value.get("kind") == "Table":
        return value
    import time

    from pybernetes.tools.kubectl.output.times import since

    items = value["items"] if isinstance(value.get("items"), list) else [value]
    definitions = [{"name": "Name", "type": "string", "format": "name"}, {"name": "Age", "type": "string"}]
    now = time.time()
    rows = [
        {
            "cells": [
                (item.get("metadata") or {}).get("name", ""),
                since((item.get("metadata") or {}).get("creationTimestamp"), now),
            ],
            "object": item,
        }
        for item in items
    ]
    return {"kind": "Table", "columnDefinitions": definitions, "rows": rows}


def printer_of(context: Context) -> Any:
    """Return the printer for any format but tables."""
    output = context.flags.output
    kind, _, text = output.partition("=")
    if kind in ("custom-columns", "custom-columns-file"):
        from pybernetes.tools.kubectl.output.custom_columns import printer

        return printer(context, kind, text)
    from pybernetes.tools.kubectl.output import printers

    if output == "name":
        return printers.make(context)
    return printers.structured(context, output or "go-template", (*printers.FORMATS, *_FORMATS))


def _generic(context: Context) -> None:
    flags = context.flags
    source = builder(context, False, continue_on_error=True)
    infos = source.all()
    if source.errors and (source.single or source.one_file):
        _raise(source)
    if not infos and flags.ignore_not_found:
        _raise(source)
        return
    show = printer_of(context)
    if source.single and len(infos) == 1:
        show(infos[0].object)
    else:
        items = _sorted(infos, flags.sort_by)
        show({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": items})
    _raise(source)


def _sorted(infos: list[Info], field: str) -> list[Object]:
    items = [info.object for info in infos]
    if field:
        from pybernetes.tools.kubectl.output.sorting import sort_objects

        return sort_objects(items, field)
    return items


def _raise(source: Builder) -> None:
    """Raise the errors that were kept; those about files are printed as they are."""
    others = (ApiError, NoConnection, NoMatch, Several, Verbatim)
    raise_all([error if isinstance(error, others) else Verbatim(error.message) for error in source.errors])
