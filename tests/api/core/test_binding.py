"""Binding."""

import pytest

from pybernetes.api.core import binding
from tests.api.writes import create


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ({"name": "n"}, []),
        ({"kind": "Node", "name": "n"}, []),
        ({}, ["target.name: Required value"]),
        (
            {"kind": "X", "name": "N"},
            ['target.kind: Unsupported value: "X": supported values: "Node", "<empty>"'],
        ),
    ],
)
def test_binding(target: dict[str, str], expected: list[str]) -> None:
    assert create(binding.RESOURCE, {"target": target})[1] == expected
