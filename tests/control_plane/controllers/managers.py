"""A controller manager inside the test, with only the controllers that the test is about."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from collections.abc import AsyncIterator, Awaitable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from pybernetes.client import Client, NotFound
from pybernetes.client.refs import Kindlike
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.lib import flags
from pybernetes.runtime import Manager


@asynccontextmanager
async def controllers(
    client: Client, *descriptors: Descriptor, clock: Any = None, **options: Any
) -> AsyncIterator[Manager]:
    """Run controllers with the options that are given and otherwise with the defaults."""
    manager = Manager(client, clock=clock)
    known = flags.defaults([flag for descriptor in descriptors for flag in descriptor.flags], **options)
    async with running(manager, descriptors, known):
        yield manager


@asynccontextmanager
async def running(
    manager: Manager, descriptors: Iterable[Descriptor], options: Namespace
) -> AsyncIterator[None]:
    """Run what descriptors build with some options."""
    for descriptor in descriptors:
        built: Any = descriptor.build(manager.runtime, options)
        assert built is not None
        manager.add(built)
    task = asyncio.create_task(manager.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def get_or_none(answer: Awaitable[Any]) -> Any:
    """Return what a call gives, or None if there is no such object."""
    try:
        return await answer
    except NotFound:
        return None


async def names(client: Client, kind: Kindlike, namespace: str = "") -> list[str]:
    """Return the names of all objects of a kind."""
    return [obj["metadata"]["name"] for obj in (await client.list(kind, namespace)).items]


def namespace(name: str) -> dict[str, Any]:
    """Return a Namespace."""
    return {"metadata": {"name": name}}
