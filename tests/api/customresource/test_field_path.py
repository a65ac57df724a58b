"""Where rules say that a value is wrong."""

from __future__ import annotations

import pytest

from pybernetes.api.customresource.field_path import below
from pybernetes.api.field import Path

TEXT = {"type": "string"}
SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "object", "properties": {"b.c": TEXT}},
        "m": {"type": "object", "additionalProperties": {"type": "object", "properties": {"x": TEXT}}},
        "l": {"type": "array", "items": TEXT},
    },
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "spec"), (".a", "spec.a"), (".a['b.c']", "spec.a.b.c"), (".m['it\\'s'].x", "spec.m[it's].x"), (".m.k", "spec.m[k]"),
        ("a", None), (" ", None), (".", None), (".z", None), (".a.b.c", None), (".l[0]", None), (".l['0']", None),
        (".a[", None), (".a['b.c'", None), (".a[b]", None), (".m['k'].y", None),
    ],
)  # fmt: skip
def test_places(text: str, expected: str | None) -> None:
    place = below(Path("spec"), text, SCHEMA)
    assert (place if place is None else str(place)) == expected
