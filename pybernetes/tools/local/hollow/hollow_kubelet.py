"""Hollow nodes and the pods on them, as one loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import NODES
from pybernetes.lib.clock import Clock
from pybernetes.runtime import Runtime
from pybernetes.runtime.informer import Informer
from pybernetes.runtime.transforms import kept
from pybernetes.tools.local.hollow import stages
from pybernetes.tools.local.hollow.nodes import HollowNodes
from pybernetes.tools.local.hollow.pods import HollowPods
from pybernetes.tools.local.hollow.usage import HollowUsage


async def run(
    client: Client,
    names: Sequence[str],
    *,
    version: str,
    clock: Clock | None = None,
    plan: list[stages.Stage] | None = None,
    start_seconds: float = 0.0,
    ready: asyncio.Event | None = None,
    takes_over: bool = False,
    addresses: set[str] | None = None,
    usage: HollowUsage | None = None,
    place: Callable[[int], tuple[str, int]] | None = None,
) -> None:
    """Run hollow nodes until cancelled; set ``ready`` when they are registered.

    One that ``takes_over`` is also every node that somebody else creates with the annotation; ``addresses`` are kept
    those of all nodes that it is; ``usage`` is told which pods they have; ``place``
    says where their kubelets are.
    """
    runtime = Runtime(client, clock=clock)
    nodes = HollowNodes(client, names, version, clock, addresses, place)
    pods = HollowPods(runtime, nodes.numbers, plan if plan is not None else stages.builtin(), start_seconds)
    if usage is not None:
        usage.pods_on, usage.siblings, usage.node_at = pods.on_node, pods.siblings, nodes.node_at
    await nodes.register()
    if takes_over:
        await nodes.take_over_all()
        if not nodes.numbers:
            await _first(client, nodes)
    try:
        async with asyncio.TaskGroup() as group:
            if takes_over:
                _follow(pods.cache(NODES), nodes, group)
            runtime.informers.start()
            group.create_task(pods.run())
            group.create_task(nodes.run())
            if ready is not None:
                ready.set()
    finally:
        await runtime.informers.stop()


def _follow(cache: Informer, nodes: HollowNodes, group: asyncio.TaskGroup) -> None:
    """Start or stop playing a node when somebody creates or deletes a hollow Node."""

    def changed(old: Object | None, new: Object | None) -> None:
        if new is None:
            nodes.let_go((old or {})["metadata"]["name"])
        elif nodes.adopts(new):
            group.create_task(nodes.take_over(new))

    cache.add_handler(changed)


async def _first(client: Client, nodes: HollowNodes) -> None:
    """Wait for the first Node that is hollow: most clusters never have one, and need not look at pods for it."""
    informer, came = Informer(client, NODES, transform=kept()), asyncio.Event()

    def changed(old: Object | None, new: Object | None) -> None:
        if new is not None and nodes.adopts(new):
            came.set()

    informer.add_handler(changed)
    watching = asyncio.create_task(informer.run())
    try:
        await came.wait()
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
    await nodes.take_over_all()
