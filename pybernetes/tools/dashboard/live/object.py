"""object: one whole object, and each of its new states."""

from __future__ import annotations

from pybernetes.client.request_options import query_text
from pybernetes.client.watch import Watch
from pybernetes.tools.dashboard.live._channel import Channel, keep_following

_WATCH_SECONDS = 1800


async def run(channel: Channel) -> None:
    """Send the object now and whenever it changes, and its end."""
    path, name = channel.path(), channel.text("name")
    await keep_following(channel, lambda: _follow(channel, path, name))


async def _follow(channel: Channel, path: str, name: str) -> None:
    client = channel.user.client
    fields = f"metadata.name={name}"
    listed = await client.call("GET", path, query_text(fieldSelector=fields))
    kind = {"apiVersion": listed.get("apiVersion"), "kind": str(listed.get("kind", "")).removesuffix("List")}
    for item in listed.get("items") or ():
        await channel.send({"object": {**kind, **item}})
    if not listed.get("items"):
        await channel.send({"gone": True})
    version = listed["metadata"]["resourceVersion"]
    query = query_text(
        watch="true", fieldSelector=fields, resourceVersion=version, allowWatchBookmarks="true",
        timeoutSeconds=_WATCH_SECONDS,
    )  # fmt: skip
    async with Watch(lambda: client.transport.watch(path, query, client.headers), version) as watch:
        while batch := await watch.batch():
            type_, obj = batch[-1]  # states in between are past already
            if type_ == "DELETED":
                await channel.send({"gone": True})
            elif type_ != "BOOKMARK":
                await channel.send({"object": {**kind, **obj}})


RUN = run
