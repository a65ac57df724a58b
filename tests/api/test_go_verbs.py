"""Verbs of Go's fmt, as the original kubectl prints them."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.text.go_printf import GoInt, sprintf


@pytest.mark.parametrize(
    ("pattern", "value", "expected"),
    [
        ("%v", 1e6, "1e+06"), ("%g", 123456789.0, "1.23456789e+08"), ("%#g", 3.5, "3.50000"), ("%x", 3.5, "0x1.cp+01"),
        ("%b", 3.5, "7881299347898368p-51"), ("%U", GoInt(-7), "U+FFFFFFFFFFFFFFF9"), ("%#U", GoInt(65), "U+0041 'A'"),
        ("%+q", "é", '"\\u00e9"'), ("%q", GoInt(65), "'A'"), ("%c", GoInt(-1), "\ufffd"), ("%5t", True, " true"),
        ("%05s", "ab", "000ab"), ("%-5d|", GoInt(3), "3    |"), ("%+v", "x", "x"), ("%5v", None, "<nil>"),
        ("%12E", "kc15", "%!E(string=        kc15)"), ("% 12.8E", None, "%!E(<nil>)"), ("%+ 5.8b", GoInt(-7), "-00000111"),
        ("%5d", [{"a": "b"}], "[map[%!d(string=    a):%!d(string=    b)]]"),
        ("%#v", {"a": ["b"]}, 'map[string]interface {}{"a":[]interface {}{"b"}}'),
    ],
)  # fmt: skip
def test_verbs(pattern: str, value: Any, expected: str) -> None:
    assert sprintf(pattern, [value]) == expected
