"""Prints what a JSONPath template makes of an object."""

from __future__ import annotations

from typing import Any

from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.jsonpath import JsonPath, parse
from pybernetes.tools.kubectl.output.printers import Print


def printer(context: Context, kind: str, text: str, managed: bool) -> Print:
    """Return a printer for a template, given as text or in a file."""
    if not text:
        raise CommandError("template format specified but no template given")
    if kind == "jsonpath-file":
        try:
            with open(text, encoding="utf-8") as file:
                text = file.read()
        except OSError as error:
            raise CommandError(
                f"error reading --template {text}, open {text}: {(error.strerror or '').lower()}"
            ) from None
    try:
        parse(text)
    except CommandError as error:
        raise CommandError(f"error parsing jsonpath {text}, {error.message}") from None
    path = JsonPath(text, context.flags.allow_missing_template_keys)

    def show(value: dict[str, Any]) -> None:
        try:
            if kind == "jsonpath-as-json":
                from pybernetes.tools.kubectl.output.json import dumps

                for values in path.results(value):
                    context.out(dumps(values))
            else:
                context.stdout.write(path.text(value))
        except CommandError as error:
            from pybernetes.api.text import go_printf

            raise CommandError(
                f'error executing jsonpath "{text}": Error executing template: {error.message}. Printing more '
                f"information for debugging the template:\n\ttemplate was:\n\t\t{text}\n\tobject given to jsonpath "
                f"engine was:\n\t\t{go_printf.sharp(value)}\n\n\n"
            ) from None

    return show
