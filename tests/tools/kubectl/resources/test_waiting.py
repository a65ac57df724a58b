"""Waiting for objects: read, then watched from there; what ends a watch does not end the wait."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.tools.kubectl.errors import ApiError
from pybernetes.tools.kubectl.resources.built_in import built_in
from pybernetes.tools.kubectl.resources.info import Info
from pybernetes.tools.kubectl.resources.waiting import TimedOut, until

_POD = Info(built_in("Pod"), "default", "web", {}, "")
_FORBIDDEN = ApiError({"reason": "Forbidden", "code": 403, "message": "no"})


def pod(version: str, phase: str) -> dict[str, Any]:
    return {"metadata": {"resourceVersion": version}, "status": {"phase": phase}}


class Server:
    """Answers readings and watches in turn, each with what is next."""

    def __init__(self, readings: list[Any], watches: list[Any]) -> None:
        self._readings, self._watches = iter(readings), iter(watches)
        self.watched_from: list[str | None] = []

    def get(self, resource: Any, namespace: str, name: str) -> Any:
        value = next(self._readings)
        if value is None:
            raise ApiError({"reason": "NotFound", "code": 404, "message": "not found"})
        return value

    def list(self, resource: Any, namespace: str, **options: Any) -> Any:
        assert options == {"fields": "metadata.name=web"}
        return {"metadata": {"resourceVersion": "now"}, "items": [pod("1", "Pending")]}

    def watch(self, resource: Any, namespace: str, **options: Any) -> Iterator[Any]:
        assert options["fields"] == "metadata.name=web"
        self.watched_from.append(options["resourceVersion"])
        events = next(self._watches)
        if isinstance(events, Exception):
            raise events
        yield from events


def waited(server: Server, **options: Any) -> Any:
    context = SimpleNamespace(client=server)
    return until(context, _POD, runs, time.monotonic() + 60, **options)  # type: ignore[arg-type]


def runs(value: Any) -> bool:
    return value is not None and value["status"]["phase"] == "Running"


@pytest.mark.parametrize(
    ("readings", "watches", "watched_from"),
    [
        ([pod("1", "Running")], [], []),
        ([pod("1", "Pending")], [[{"type": "MODIFIED", "object": pod("2", "Running")}]], ["1"]),
        ([None], [[{"type": "ADDED", "object": pod("2", "Running")}]], [None]),
        ([pod("1", "Pending"), pod("3", "Running")], [[]], ["1"]),
        (
            [pod("1", "Pending")],
            [[{"type": "ERROR", "object": {}}], [{"type": "MODIFIED", "object": pod("3", "Running")}]],
            ["1", "now"],
        ),
        (
            [pod("1", "Pending")],
            [
                ApiError({"reason": "Expired", "code": 410}),
                [{"type": "MODIFIED", "object": pod("3", "Running")}],
            ],
            ["1", "now"],
        ),
    ],
)
def test_until_it_runs(readings: list[Any], watches: list[Any], watched_from: list[Any]) -> None:
    server = Server(readings, watches)
    assert runs(waited(server))
    assert server.watched_from == watched_from


def test_what_was_just_seen_is_not_read_again() -> None:
    server = Server([], [[{"type": "MODIFIED", "object": pod("2", "Running")}]])
    assert runs(waited(server, seen=pod("1", "Pending")))
    assert server.watched_from == ["1"]


def test_who_may_not_watch_reads_again_if_asked_to() -> None:
    readings = [None, None, pod("3", "Running")]
    assert runs(waited(Server(readings, [_FORBIDDEN, _FORBIDDEN]), pause=0.001))
    with pytest.raises(ApiError, match="no"):
        waited(Server([None], [_FORBIDDEN]))


def test_too_late() -> None:
    with pytest.raises(TimedOut, match="timed out waiting for the condition on pods/web"):
        waited(Server([pod("1", "Pending")], [TimeoutError()]))
