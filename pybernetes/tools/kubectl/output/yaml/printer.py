"""Prints objects as YAML, in the style of the library that the original uses."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.output.printers import Print, without_managed
from pybernetes.tools.kubectl.output.yaml import plain_writer

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


def dumps(value: Any) -> str:
    """Return a value as YAML."""
    try:
        return plain_writer.dumps(value)
    except plain_writer.NotPlain:
        from pybernetes.tools.kubectl.output.yaml.library_writer import dumps as library_dumps

        return library_dumps(value)


def printer(context: Context, managed: bool) -> Print:
    """Return a printer of objects as YAML documents."""
    count = 0

    def show(value: Object) -> None:
        nonlocal count
        if count:
            context.out("---")
        count += 1
        context.stdout.write(dumps(value if managed else without_managed(value)))

    return show
