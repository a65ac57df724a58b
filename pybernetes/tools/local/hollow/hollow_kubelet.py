"""Hollow nodes and the pods on them, as one loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pybernetes.client.client import Client
from pybernetes.lib.clock import Clock
from pybernetes.runtime import Runtime
from pybernetes.tools.local.hollow import stages
from pybernetes.tools.local.hollow.nodes import HollowNodes
from pybernetes.tools.local.hollow.pods import HollowPods


async def run(
    client: Client,
    names: Sequence[str],
    *,
    version: str,
    clock: Clock | None = None,
    plan: list[stages.Stage] | None = None,
    start_seconds: float = 0.0,
    ready: asyncio.Event | None = None,
) -> None:
    """Be hollow nodes until cancelled; ``ready`` is set when they are registered."""
    runtime = Runtime(client, clock=clock)
    pods = HollowPods(runtime, names, plan if plan is not None else stages.builtin(), start_seconds)
    nodes = HollowNodes(client, names, version, clock)
    await nodes.register()
    runtime.informers.start()
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(pods.run())
            group.create_task(nodes.run())
            if ready is not None:
                ready.set()
    finally:
        await runtime.informers.stop()
