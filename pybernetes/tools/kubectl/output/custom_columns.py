"""Prints columns that the user names: HEADING:path,HEADING:path."""

from __future__ import annotations

from pybernetes.api.text import go_printf
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, escaped
from pybernetes.tools.kubectl.files import read_text
from pybernetes.tools.kubectl.output.jsonpath import PathTemplate, show
from pybernetes.tools.kubectl.output.printers import Print
from pybernetes.tools.kubectl.output.table import columns

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


def printer(context: Context, kind: str, text: str) -> Print:
    """Return a printer of one line for each object."""
    headings, paths = _from_file(text) if kind == "custom-columns-file" else _from_text(text)
    programs = [PathTemplate.relaxed(path) for path in paths]
    # A file's first line is always shown; what is printed later needs no headings again.
    pending = [] if context.flags.no_headers and kind == "custom-columns" else [headings]

    def show_all(value: Object) -> None:
        items = value["items"] if isinstance(value.get("items"), list) else [value]
        rows = pending[:]
        pending.clear()
        try:
            for item in items:
                rows.append([_cell(program.results(item)) for program in programs])
        finally:  # what there is before an error, too
            context.stdout.write(columns(rows))

    return show_all


def _cell(results: list[list[Any]]) -> str:
    if not results or not results[0]:
        return "<none>"
    values = [value for result in results for value in result]
    return ",".join(("<nil>" if value is None else escaped(_text(value))) for value in values)


def _text(value: Any) -> str:
    return go_printf.plain(value) if isinstance(value, dict | list) else show(value)


def _from_text(text: str) -> tuple[list[str], list[str]]:
    if not text:
        raise CommandError("custom-columns format specified but no custom columns given")
    pairs = []
    for part in text.split(","):
        heading, colon, path = part.partition(":")
        if not colon:
            raise CommandError(f"unexpected custom-columns spec: {part}, expected <header>:<json-path-expr>")
        pairs.append((heading, path))
    return [heading for heading, _ in pairs], [path for _, path in pairs]


def _from_file(path: str) -> tuple[list[str], list[str]]:
    if not path:
        raise CommandError("custom-columns-file format specified but no custom columns file given")
    lines = read_text(path, f"error reading template {path}, ", "\n").splitlines()
    if len(lines) < 2:
        raise CommandError(
            f"invalid template, missing {'spec' if lines else 'header'} line. Expected format is one line of space "
            "separated headers, one line of space separated column specs."
        )
    headings, paths = lines[0].split(), lines[1].split()
    if len(headings) != len(paths):
        raise CommandError(
            f"number of headers ({len(headings)}) and field specifications ({len(paths)}) don't match"
        )
    return headings, paths
