"""A scheduler that runs in the test, and what it did."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import NODES, PODS
from pybernetes.control_plane.scheduler.scheduler import Scheduler
from pybernetes.scheduling.config import Configuration
from tests.support import eventually


@asynccontextmanager
async def scheduling(client: Client, configuration: Configuration | None = None) -> AsyncIterator[Scheduler]:
    """Yield a scheduler at work."""
    scheduler = Scheduler(client, configuration)
    task = asyncio.create_task(scheduler.run())
    try:
        await eventually(lambda: scheduler.running or task.done())
        yield scheduler
    finally:
        task.cancel()
        outcome = (await asyncio.gather(task, return_exceptions=True))[0]
        assert isinstance(outcome, asyncio.CancelledError), outcome


async def add_node(client: Client, obj: Object) -> None:
    """Create a node that is ready: one that is new is tainted until somebody says that it is."""
    made = await client.create(NODES, obj)
    made["spec"]["taints"] = obj["spec"].get("taints", [])
    await client.update(NODES, made)


async def is_on(client: Client, name: str, node: str) -> bool:
    """Return whether a pod is on a node."""
    return (await client.get(PODS, name, "default"))["spec"].get("nodeName") == node


def condition(obj: Object) -> Object:
    """Return the condition that tells whether a pod is scheduled."""
    conditions = [
        condition
        for condition in obj.get("status", {}).get("conditions", ())
        if condition["type"] == "PodScheduled"
    ]
    return conditions[0] if conditions else {}


async def message(client: Client, name: str) -> str:
    """Return why a pod is not scheduled."""
    return condition(await client.get(PODS, name, "default")).get("message", "")
