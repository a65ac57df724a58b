"""Pools that objects draw from when they are written: addresses and ports of services."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Protocol

from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.storage.kind import Kind


class Allocation(Protocol):
    """What a write took from a pool."""

    async def undo(self) -> None:
        """Give it back, because the write failed."""

    async def commit(self) -> None:
        """Keep it, and give back what the object held before and no longer needs."""


class Allocator(Protocol):
    """The pools of one kind."""

    async def allocate(self, new: Object, old: Object | None, *, dry_run: bool) -> Allocation:
        """Take what an object that is about to be written needs, and put it into the object."""

    async def release(self, obj: Object) -> None:
        """Give back what a deleted object held."""

    async def note(self, obj: Object) -> None:
        """Write down what an object holds already."""

    async def close(self) -> None:
        """Stop what runs in the background."""


_NOTHING: nullcontext[None] = nullcontext()


def allocated(
    context: ServerContext, kind: Kind, new: Object, old: Object | None, dry_run: bool
) -> AbstractAsyncContextManager[None]:
    """Hold what a write takes from the pools of its kind, and give it back if the write fails."""
    allocator = context.allocator(kind)
    return _NOTHING if allocator is None else _held(allocator, new, old, dry_run)


@asynccontextmanager
async def _held(allocator: Allocator, new: Object, old: Object | None, dry_run: bool) -> AsyncIterator[None]:
    allocation = await allocator.allocate(new, old, dry_run=dry_run)
    try:
        yield
    except BaseException:
        await allocation.undo()
        raise
    if not dry_run:
        await allocation.commit()
