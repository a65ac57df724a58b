"""Tables on a terminal."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from pybernetes.tools.kubectl.command_line.flags import parse
from pybernetes.tools.kubectl.commands.events import _row
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import escaped
from pybernetes.tools.kubectl.output.custom_columns import printer
from pybernetes.tools.kubectl.output.table import TablePrinter, clean


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("plain", "plain"),
        (None, ""),
        (3, "3"),
        ("a\x1b[31mred", "a^[[31mred"),
        ("a\x9b31mred", "a^[[31mred"),
        ("one\ntwo", "one..."),
        ("\x1bone\rtwo", "^[one..."),
        ("one\ftwo", "one..."),
        ("a\tb", "a\tb"),
    ],
)
def test_a_cell_is_one_line_and_no_command(cell: object, shown: str) -> None:
    """CVE-2021-25743."""
    assert clean(cell) == shown


class Flags:
    """The flags that these printers look at."""

    all_namespaces = True
    no_headers = True


def test_events_and_columns_of_ones_own_are_no_commands() -> None:
    """CVE-2021-25743."""
    event = {
        "metadata": {"namespace": "n\x1b"}, "type": "t\x1b", "reason": "r\x1b", "message": "m\x1b[2J\rx",
        "involvedObject": {"kind": "k\x1b", "name": "x\x1b"},
    }  # fmt: skip
    row = _row(Flags, event)  # type: ignore[arg-type]
    assert row == ["n^[", "<unknown>", "t^[", "r^[", "k^[/x^[", "m^[[2J\\rx"]
    out = io.StringIO()
    context = Context(parse([], {}), stdout=out)
    context.flags.no_headers = True  # type: ignore[attr-defined]
    printer(context, "custom-columns", "A:.a")({"a": "x\x1b[2J"})
    assert out.getvalue() == "x^[[2J\n"


def test_labels_are_no_commands_either() -> None:
    flags = SimpleNamespace(output="", no_headers=True, show_labels=True, label_columns=["a"])
    table = {
        "columnDefinitions": [{"name": "Name"}],
        "rows": [
            {"cells": ["x"], "object": {"metadata": {"namespace": "\x1b[n", "labels": {"a": "\x1b[2J"}}}}
        ],
    }
    rows = TablePrinter(flags, with_namespace=True).rows(table)  # type: ignore[arg-type]
    assert rows == [["^[[n", "x", "^[[2J", "a=^[[2J"]]


def test_short_forms_of_commands_are_none() -> None:
    assert escaped("a\x9d0;title\x07\x90b\u00e4") == "a^[]0;title\x07^[Pb\u00e4"


def test_what_a_server_says_in_a_warning_is_no_command() -> None:
    err = io.StringIO()
    Context(parse([], {}), stderr=err).warn("error when evicting: \x1b[2J")
    assert err.getvalue() == "error when evicting: ^[[2J\n"
