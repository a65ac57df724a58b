"""Whoever follows logs waits for a container that does not run yet."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.tools.kubectl.commands import logs
from pybernetes.tools.kubectl.errors import ApiError, CommandError

WAITING = ApiError({"reason": "BadRequest", "code": 400, "message": "waiting to start"})


def context(*, follow: bool, seconds: float) -> tuple[Any, list[str]]:
    told: list[str] = []
    flags = SimpleNamespace(follow=follow, pod_running_timeout=seconds)
    return SimpleNamespace(flags=flags, warn=told.append), told


def answers(monkeypatch: pytest.MonkeyPatch, *outcomes: ApiError | None) -> None:
    """Have the server answer so, one after the other, and the clock go on only by sleeping."""
    left, clock = list(outcomes), [0.0]

    def answer(*arguments: Any) -> None:
        if (outcome := left.pop(0)) is not None:
            raise outcome

    def sleep(seconds: float) -> None:
        clock[0] += seconds

    monkeypatch.setattr(logs, "print_logs", answer)
    monkeypatch.setattr(logs, "time", SimpleNamespace(monotonic=lambda: clock[0], sleep=sleep))


def test_a_container_that_starts_late_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, WAITING, WAITING, None)
    following, told = context(follow=True, seconds=20.0)
    logs._print(following, {}, "c", {})
    assert told == ["waiting to start"] * 2


def test_the_wait_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, WAITING, WAITING)
    following, told = context(follow=True, seconds=1.5)
    with pytest.raises(CommandError, match="context deadline exceeded"):
        logs._print(following, {}, "c", {})
    assert told == ["waiting to start"] * 2


def test_who_does_not_follow_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, WAITING)
    once, told = context(follow=False, seconds=20.0)
    with pytest.raises(ApiError):
        logs._print(once, {}, "c", {})
    assert told == []
