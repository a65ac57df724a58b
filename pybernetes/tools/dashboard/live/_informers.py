"""What pictures of many objects share: watches of several kinds, and a look at all of them when something has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from pybernetes.client.client import Client
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import Ref
from pybernetes.runtime.informer import Informer

_PAUSE_SECONDS = 0.5


async def may_list(client: Client, ref: Ref, namespace: str) -> bool:
    """Return whether the user may list a kind."""
    try:
        await client.list_page(ref, namespace, limit=1, metadata_only=True)
    except StatusError:
        return False
    return True


async def follow(informers: list[Informer], send: Callable[[], Awaitable[None]]) -> None:
    """Send once everything is known, and whenever something has changed, but not all the time."""
    changed = asyncio.Event()
    changed.set()  # there may be nothing at all
    for informer in informers:
        informer.add_handler(lambda old, new: changed.set())
    tasks = [asyncio.create_task(informer.run()) for informer in informers]
    try:
        while True:
            await changed.wait()
            changed.clear()
            if all(informer.synced for informer in informers):
                await send()
            else:
                changed.set()
            await asyncio.sleep(_PAUSE_SECONDS)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
