"""table: the rows of a list with the server's own columns, and how they change."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from pybernetes.client.errors import Expired
from pybernetes.client.request_options import query_text
from pybernetes.client.watch import Watch
from pybernetes.tools.dashboard.live._channel import Channel, keep_following

_ACCEPT = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
# The first rows are to be there at once, the others soon.
_FIRST, _CHUNK = 200, 500
_MOST_ROWS = 200_000
_WATCH_SECONDS = 1800


async def run(channel: Channel) -> None:
    """Send all rows, then what changes; again from the beginning when the server has forgotten where we were."""
    path = channel.path()
    selectors = {"labelSelector": channel.text("labels"), "fieldSelector": channel.text("fields")}
    version = ""

    async def follow() -> None:
        nonlocal version
        try:
            version = version or await _list(channel, path, selectors)
            async for seen in _watch(channel, path, selectors, version):
                version = seen
        except Expired:
            version = ""
            raise

    await keep_following(channel, follow)


async def _list(channel: Channel, path: str, selectors: dict[str, str]) -> str:
    """Send all rows, in chunks of one moment; return the moment."""
    version, token, count = "", "", 0
    await channel.send({"reset": True})
    while True:
        query = query_text(limit=_CHUNK if token else _FIRST, **selectors, **{"continue": token})
        table = await channel.user.client.call("GET", path, query, accept=_ACCEPT)
        rows = rows_of(table)
        count += len(rows)
        meta = table.get("metadata") or {}
        version, token = version or meta.get("resourceVersion", ""), meta.get("continue", "")
        message: dict[str, Any] = {"changed": rows, "complete": not token}
        if table.get("columnDefinitions"):
            message["columns"] = columns_of(table)
        await channel.send(message)
        if not token:
            return version
        if count >= _MOST_ROWS:
            await channel.send(
                {"error": {"code": 413, "message": f"there are more than {_MOST_ROWS} rows: filter them"}}
            )
            return version


async def _watch(channel: Channel, path: str, selectors: dict[str, str], version: str) -> AsyncIterator[str]:
    """Send what changes until the watch ends; yield the version up to which everything has been sent."""
    query = query_text(
        watch="true",
        allowWatchBookmarks="true",
        resourceVersion=version,
        timeoutSeconds=_WATCH_SECONDS,
        **selectors,
    )
    headers = {**channel.user.client.headers, b"accept": _ACCEPT.encode()}

    async def open_() -> Any:
        return await channel.user.transport.watch(path, query, headers)

    async with Watch(open_, version) as watch:
        while batch := await watch.batch():
            changed: dict[str, list[Any]] = {}
            removed: dict[str, None] = {}
            for type_, table in batch:
                for row in rows_of(table) if type_ != "BOOKMARK" else ():
                    version = row[_VERSION] or version
                    if type_ == "DELETED":
                        changed.pop(row[0], None)
                        removed[row[0]] = None
                    else:
                        removed.pop(row[0], None)  # it is back
                        changed[row[0]] = row
                if type_ == "BOOKMARK":
                    version = _bookmark(table) or version
            if changed or removed:
                await channel.send({"changed": list(changed.values()), "removed": list(removed)})
            yield version


# A row as the page gets it: what names it, the namespace, the name, when it was made, its version, and the cells.
_VERSION = 4


def rows_of(table: Any) -> list[list[Any]]:
    """Return the rows of a Table with no more of their objects than a list needs; ValueError if it is no Table."""
    if not isinstance(table, dict) or table.get("kind") != "Table":
        raise ValueError("the server does not tell the columns of these objects")
    rows = []
    for row in table.get("rows") or ():
        meta = (row.get("object") or {}).get("metadata") or {}
        namespace, name = meta.get("namespace", ""), meta.get("name", "")
        rows.append(
            [f"{namespace}/{name}", namespace, name, meta.get("creationTimestamp"),
             meta.get("resourceVersion", ""), row.get("cells") or []]
        )  # fmt: skip
    return rows


def columns_of(table: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the columns: their name, type, priority and description."""
    return [
        {name: column.get(name) for name in ("name", "type", "priority", "description")}
        for column in table["columnDefinitions"]
    ]


def _bookmark(table: dict[str, Any]) -> str:
    """Return the version of a bookmark, which has it in the only row, or in its own metadata."""
    rows = rows_of(table) if table.get("kind") == "Table" else []
    return (rows[0][_VERSION] if rows else "") or (table.get("metadata") or {}).get("resourceVersion", "")


RUN = run
