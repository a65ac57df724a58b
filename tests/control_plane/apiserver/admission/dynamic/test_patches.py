"""What the expressions of mutations make."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pybernetes.control_plane.apiserver.admission.dynamic import patches
from pybernetes.lib.event_loop import off_loop


def shared(steps: int) -> Any:
    """Return a value that is small to keep and doubles in size with each step."""
    value: Any = ["a"]
    for _ in range(steps):
        value = {"x": value, "y": value}
    return value


@pytest.mark.parametrize("value", [shared(60), {"a": "x" * (100 << 20)}])
def test_what_is_larger_than_any_object_is_not_written_out(value: Any) -> None:
    with pytest.raises(patches.PatchError, match="more than an object can hold"):
        asyncio.run(off_loop.run_counting(0, patches.weight, value))


def test_the_weight_is_that_of_what_is_written() -> None:
    assert patches.weight({"a": ["x", "y", 1]}) == (1 + 1) + (1 + 3) + 1 + 1
    assert patches.weight(shared(10)) > 1 << 10
