"""Prints what a JSONPath template makes of an object."""

from __future__ import annotations

from pybernetes.api.jsonpath.comparison import JsonPathError
from pybernetes.api.jsonpath.template import JsonPath, relaxed
from pybernetes.api.resource import Object
from pybernetes.api.text import go_printf
from pybernetes.api.text.go_format import quote
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.output.json import dumps
from pybernetes.tools.kubectl.output.printers import Print

if TYPE_CHECKING:
    from typing import Any


class PathTemplate:
    """A JSONPath template whose errors are kubectl's."""

    def __init__(self, text: str, allow_missing: bool = True) -> None:
        try:
            self._path = JsonPath(text, allow_missing)
        except JsonPathError as error:
            raise CommandError(str(error)) from None

    @classmethod
    def relaxed(cls, path: str) -> PathTemplate:
        """Return the template of a path that may be given without braces and leading dot."""
        try:
            return cls(relaxed(path))
        except JsonPathError as error:
            raise CommandError(str(error)) from None

    def results(self, value: Any) -> list[list[Any]]:
        """Return what each expression selects from an object."""
        try:
            return self._path.results(value)
        except JsonPathError as error:
            raise CommandError(str(error)) from None

    def text(self, value: Any) -> str:
        """Return what the template makes of an object."""
        return "".join(" ".join(show(item) for item in values) for values in self.results(value))


def show(value: Any) -> str:
    """Return a result as text: lists and maps as JSON."""
    if isinstance(value, dict | list):
        return dumps(value, indent=None)
    return "null" if value is None else go_printf.plain(value)


def printer(context: Context, kind: str, text: str) -> Print:
    """Return a printer for a template; the kind ``jsonpath-as-json`` prints JSON."""
    try:
        path = PathTemplate(text, context.flags.allow_missing_template_keys)
    except CommandError as error:
        raise CommandError(f"error parsing jsonpath {text}, {error.message}") from None

    def show_object(value: Object) -> None:
        try:
            if kind == "jsonpath-as-json":
                for values in path.results(value):
                    context.out(dumps(values))
            else:
                context.stdout.write(path.text(value))
        except CommandError as error:
            raise CommandError(
                f"error executing jsonpath {quote(text)}: Error executing template: {error.message}. Printing more "
                f"information for debugging the template:\n\ttemplate was:\n\t\t{text}\n\tobject given to jsonpath "
                f"engine was:\n\t\t{go_printf.sharp(value)}\n\n\n"
            ) from None

    return show_object
