"""What commands print for people and for programs, in the formats that upstream's know: kubectl's printers do it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence

from pybernetes.api.resource import Object
from pybernetes.lib.flags import Flag, Ignored
from pybernetes.tools.kubeadm import command_line
from pybernetes.tools.kubeadm.command_line import Arguments
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubectl.command_line.flags import Flag as PrinterFlag
from pybernetes.tools.kubectl.command_line.flags import Values
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.output import elastic_tabs, printers

Show = Callable[[Object], None]
_STRUCTURED = ("json", "yaml", "kyaml")
FORMATS = ("text", *_STRUCTURED, *printers.TEMPLATES, *printers.PATHS)
_TEXT = "text"
_PRINTER_FLAGS = (PrinterFlag("- template string"), PrinterFlag("- allow-missing-template-keys bool"))
_GROUP = "output.kubeadm.k8s.io/v1alpha3"
FLAGS = (
    command_line.OUTPUT,
    Flag(
        "allow-missing-template-keys",
        True,
        "If true, a field or key that a template names and that is missing is no error.",
    ),
    Ignored("show-managed-fields", False, "what is printed has no managed fields"),
)


def is_text(arguments: Arguments) -> bool:
    """Return whether people read what is printed."""
    return str(arguments.output) == _TEXT


def printer(arguments: Arguments, for_people: Callable[[Object], str]) -> Show:
    """Return what prints objects as ``--output`` asks for; KubeadmError if there is no such format."""
    if is_text(arguments):
        return lambda value: _write(for_people(value))
    chosen = str(arguments.output)
    chosen = chosen.lower() if chosen.lower() in _STRUCTURED else chosen
    flags = Values({flag.name: flag for flag in _PRINTER_FLAGS})
    flags.put(_PRINTER_FLAGS[1], str(arguments.allow_missing_template_keys).lower())
    context = Context(flags, stdout=sys.stdout, environment={})
    try:
        shown = printers.structured(context, chosen, FORMATS, typed=True)
    except CommandError as error:
        raise KubeadmError(f"could not construct output printer: {error.message}") from None

    def show(value: Object) -> None:
        try:
            shown(value)
        except CommandError as error:
            raise KubeadmError(error.message) from None
        finally:
            sys.stdout.flush()

    return show


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def typed(kind: str, fields: Object) -> Object:
    """Return an object of kubeadm's output API."""
    return {"kind": kind, "apiVersion": _GROUP, **fields}


def table(rows: Iterable[Sequence[str]]) -> str:
    """Return rows with their columns below one another, as upstream's commands align them."""
    return elastic_tabs.align("".join("\t".join(row) + "\n" for row in rows), minimum=10, gap=3)
