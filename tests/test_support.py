"""How tests wait: with a deadline, and with a message that says for what."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support import eventually, until


def after(times: int, value: str, error: Exception | None = None) -> Callable[[], str]:
    """Make a condition that holds when it is asked for so many times more."""
    asked = iter(range(times))

    def condition() -> str:
        if next(asked, None) is None:
            return value
        if error is not None:
            raise error
        return ""

    return condition


async def test_the_value_of_the_condition_is_returned() -> None:
    assert until(after(2, "there")) == "there"
    assert await eventually(after(2, "there")) == "there"
    condition = after(2, "there")

    async def asynchronous() -> str:
        return condition()

    assert await eventually(asynchronous) == "there"


async def test_errors_that_mean_not_yet() -> None:
    assert until(after(2, "there", OSError()), not_yet=(OSError,)) == "there"
    assert await eventually(after(2, "there", OSError()), not_yet=(OSError,)) == "there"
    with pytest.raises(ValueError):
        until(after(2, "there", ValueError()), not_yet=(OSError,))
    with pytest.raises(ValueError):
        await eventually(after(2, "there", ValueError()), not_yet=(OSError,))


async def test_what_is_waited_for_in_vain_is_named() -> None:
    with pytest.raises(
        AssertionError, match=r"test_support\.py:\d+ does not hold after 0 s: it is \[\]\nthe log"
    ):
        until(lambda: [], 0, story=lambda: "the log")
    with pytest.raises(AssertionError, match=r"test_support\.py:\d+ does not hold after 0 s: it is OSError"):
        until(after(9, "", OSError("gone")), 0, not_yet=(OSError,))
    with pytest.raises(AssertionError, match=r"test_support\.py:\d+ does not hold after 0 s: it is False"):
        await eventually(lambda: False, 0)
