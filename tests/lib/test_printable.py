"""Texts of others on a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.lib.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("Größe\t→ 5", "Größe\t→ 5"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("two\nlines\r", "two\\nlines\\r"),
        ("a\x9b31mb\x7f", "a\\x9b31mb\\x7f"),
        ("turned \u202e round", "turned \\u202e round"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_commands_a_terminal_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text())
def test_nothing_else_is_left(text: str) -> None:
    shown = printable(text)
    assert not any((ord(char) < 32 and char != "\t") or 127 <= ord(char) < 160 for char in shown)
    assert printable(shown) == shown
