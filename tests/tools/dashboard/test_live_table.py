from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from pybernetes.client.errors import Expired
from pybernetes.lib.discover import names
from pybernetes.tools.dashboard.live._channel import Channel
from pybernetes.tools.dashboard.live.table import columns_of, rows_of, run
from pybernetes.tools.dashboard.user import User
from tests.support import eventually


def test_what_can_be_followed() -> None:
    assert names("pybernetes.tools.dashboard.live") == [
        "access", "cluster", "control_plane", "federation", "kinds", "log", "map", "object", "port_forward", "search", "shell", "table", "trace", "why",
    ]  # fmt: skip


def test_rows_have_no_more_than_a_list_needs() -> None:
    meta = {
        "name": "a",
        "namespace": "b",
        "creationTimestamp": "t",
        "resourceVersion": "7",
        "managedFields": [{}],
    }
    table = {"kind": "Table", "rows": [{"cells": ["a", 1], "object": {"metadata": meta}}]}
    assert rows_of(table) == [["b/a", "b", "a", "t", "7", ["a", 1]]]


@pytest.mark.parametrize("table", [{"kind": "PodList"}, [], None, "text", {}])
def test_servers_without_tables(table: Any) -> None:
    with pytest.raises(ValueError, match="does not tell the columns"):
        rows_of(table)


def test_columns() -> None:
    table = {
        "columnDefinitions": [
            {"name": "Name", "type": "string", "priority": 0, "format": "name", "description": "d"}
        ]
    }
    assert columns_of(table) == [{"name": "Name", "type": "string", "priority": 0, "description": "d"}]


class Api:
    """An API server whose lists and watches are told beforehand; the last watch goes on."""

    def __init__(self, lists: list[Any], watches: list[Any]) -> None:
        self.lists, self.watches = lists, watches
        self.headers: dict[bytes, bytes] = {}
        self.queries: list[str] = []

    @property
    def client(self) -> Api:
        return self

    @property
    def transport(self) -> Api:
        return self

    async def call(self, method: str, path: str, query: str, accept: str = "") -> Any:
        self.queries.append(query)
        return _told(self.lists.pop(0))

    async def watch(self, path: str, query: str, headers: object) -> Any:
        self.queries.append(query)
        return _Events(_told(self.watches.pop(0)))


class _Events:
    def __init__(self, batches: list[Any]) -> None:
        self._batches = batches

    async def batch(self) -> list[Any]:
        if not self._batches:
            await asyncio.Event().wait()
        return _told(self._batches.pop(0))

    def close(self) -> None:
        pass


def _told(value: Any) -> Any:
    if isinstance(value, Exception):
        raise value
    return value


def _table(*names: str, version: str = "5", token: str = "", columns: bool = False) -> dict[str, Any]:
    rows = [
        {"cells": [name], "object": {"metadata": {"name": name, "resourceVersion": version}}}
        for name in names
    ]
    table = {"kind": "Table", "metadata": {"resourceVersion": version, "continue": token}, "rows": rows}
    return {**table, "columnDefinitions": [{"name": "Name"}]} if columns else table


async def _sent(api: Api, count: int) -> list[dict[str, Any]]:
    """Return the first messages that a page gets, rows by their names alone."""
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        if "changed" in message:
            message["changed"] = [row[2] for row in message["changed"]]
        message.pop("columns", None)
        sent.append(message)

    task = asyncio.ensure_future(run(Channel(cast(User, api), {"path": "/api/v1/pods"}, send)))
    try:
        await eventually(lambda: len(sent) >= count)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    return sent


async def test_rows_come_in_chunks_and_then_change() -> None:
    changes = [
        ("ADDED", _table("c", version="6")),
        ("DELETED", _table("a", version="7")),
        ("MODIFIED", _table("c", version="8")),
    ]
    api = Api([_table("a", token="more", columns=True), _table("b")], [[changes]])
    assert await _sent(api, 4) == [
        {"reset": True},
        {"changed": ["a"], "complete": False},
        {"changed": ["b"], "complete": True},
        {"changed": ["c"], "removed": ["/a"]},
    ]
    assert "continue=more" in api.queries[1] and "resourceVersion=5" in api.queries[2]


async def test_an_object_that_is_gone_and_back_in_one_batch_is_there() -> None:
    changes = [("DELETED", _table("a", version="6")), ("ADDED", _table("a", version="7"))]
    assert (await _sent(Api([_table("a")], [[changes]]), 3))[-1] == {"changed": ["a"], "removed": []}


async def test_a_watch_that_ends_goes_on_from_where_it_was() -> None:
    api = Api(
        [_table("a")], [[[("ADDED", _table("b", version="9"))], []], [[("ADDED", _table("c", version="10"))]]]
    )
    assert (await _sent(api, 4))[2:] == [{"changed": ["b"], "removed": []}, {"changed": ["c"], "removed": []}]
    assert "resourceVersion=9" in api.queries[-1]


async def test_a_lost_connection_is_told_and_taken_up_again() -> None:
    api = Api([_table("a")], [[OSError("gone")], [[("ADDED", _table("b", version="6"))]]])
    assert (await _sent(api, 4))[2:] == [{"lost": "gone"}, {"changed": ["b"], "removed": []}]


async def test_the_list_begins_anew_when_the_server_has_forgotten() -> None:
    api = Api([_table("a"), _table("b")], [[Expired(410, "Expired", "too old")], []])
    assert (await _sent(api, 4))[2:] == [{"reset": True}, {"changed": ["b"], "complete": True}]
