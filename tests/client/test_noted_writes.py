from __future__ import annotations

from typing import Any

import pytest

from pybernetes.client import noted_writes
from pybernetes.client.noted_writes import Written
from pybernetes.client.refs import CONFIG_MAPS


@pytest.mark.parametrize(
    ("version", "subresource", "noted"),
    [
        ("7", "", 7), ("7", "status", 7), ("7", "eviction", None), ("", "", None), ("opaque", "", None),
        ("²", "", None), ("9" * 5000, "", None), (7, "", None), (None, "", None),
    ],
)  # fmt: skip
def test_which_writes_are_noted(version: Any, subresource: str, noted: int | None) -> None:
    value = {"metadata": {"name": "x", "namespace": "n", "uid": "u", "resourceVersion": version}}
    given: list[Written] = []
    token = noted_writes.writes.set(given)
    try:
        assert noted_writes.note(CONFIG_MAPS, value, subresource) is value
    finally:
        noted_writes.writes.reset(token)
    assert given == ([] if noted is None else [Written(CONFIG_MAPS, "n", "x", noted, "u")])
