"""What KYAML looks like."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.tools.kubectl.output.yaml.kyaml_printer import dumps


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([{}], "[{}]"),
        ([{"a": 1}, {}, [[]]], "[{\n  a: 1,\n}, {}, [[]]]"),
        ([{"a": 1}, 2], "[\n  {\n    a: 1,\n  },\n  2,\n]"),
        ({"t": 1, "oN": 1, "INF": 1}, '{\n  "INF": 1,\n  "oN": 1,\n  "t": 1,\n}'),
        (
            {"9a": 1, "\u00e9": 1, "a b": 1, "0x1": 1},
            '{\n  "0x1": 1,\n  9a: 1,\n  "a b": 1,\n  \u00e9: 1,\n}',
        ),
        ("a\tb\x01\\", '"a\tb\\x01\\\\"'),
        ("x\n", '"\\\n   x\\n\\\n  "'),
        ("x\n\n y\tz", '"\\\n   x\\n\\\n   \\n\\\n  \\ y\tz\\\n  "'),
    ],
)
def test_kyaml(value: Any, expected: str) -> None:
    assert dumps(value) == f"---\n{expected}\n"


def test_keys_of_what_is_made_here_have_the_order_of_their_type() -> None:
    value = {"kind": "Pod", "apiVersion": "v1", "spec": {"b": [], "a": {}}}
    assert (
        dumps(value, typed=True)
        == '---\n{\n  kind: "Pod",\n  apiVersion: "v1",\n  spec: {\n    b: [],\n    a: {},\n  },\n}\n'
    )
    assert (
        dumps(value)
        == '---\n{\n  apiVersion: "v1",\n  kind: "Pod",\n  spec: {\n    a: {},\n    b: [],\n  },\n}\n'
    )
