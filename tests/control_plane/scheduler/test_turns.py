"""What takes long is done beside the event loop, and nobody else uses what the scheduler knows meanwhile."""

from __future__ import annotations

import asyncio
import threading
from functools import partial

import pytest

from pybernetes.api.resource import Object
from pybernetes.client.refs import PODS
from pybernetes.control_plane.scheduler.turns import Turns
from pybernetes.lib.event_loop import off_loop
from pybernetes.scheduling.cycle import Cycle, Decision
from pybernetes.scheduling.pods import Pod, PodReader
from pybernetes.scheduling.snapshot import Snapshot
from tests.cluster import Cluster
from tests.control_plane.scheduler.helpers import add_node, is_on, scheduling
from tests.scheduling.builders import node, pod
from tests.support import eventually

HEAVY = off_loop.LARGE + 1


async def test_light_work_is_done_at_once_and_heavy_work_on_a_thread() -> None:
    turns = Turns()
    assert await turns.run(0, threading.get_ident) == threading.get_ident()
    assert await turns.run(HEAVY, threading.get_ident) != threading.get_ident()
    await turns.close()


async def test_nobody_has_a_turn_while_a_thread_has_it() -> None:
    turns, order = Turns(), list[str]()
    began, goes_on = threading.Event(), threading.Event()

    def hold() -> None:
        began.set()
        goes_on.wait(30)
        turns.then(order.append, "told")
        order.append("held")

    holding = asyncio.create_task(turns.run(HEAVY, hold))
    await eventually(began.is_set)
    waiting = asyncio.create_task(turns.run(0, order.append, "waited"))
    turns.start(0, order.append, "started")
    turns.then(order.append, "of the loop")  # what belongs to the loop goes on
    holding.cancel()  # whoever waits may give up, the thread still has the turn
    await asyncio.gather(holding, return_exceptions=True)
    assert order == ["of the loop"] and not waiting.done()
    goes_on.set()
    await waiting
    await turns.close()
    assert order[:3] == ["of the loop", "held", "told"] and sorted(order[3:]) == ["started", "waited"]


async def test_an_error_ends_a_turn() -> None:
    turns = Turns()
    with pytest.raises(ZeroDivisionError):
        await turns.run(HEAVY, divmod, 1, 0)
    await asyncio.wait_for(turns.mine(), 30)
    await turns.close()


def _heavy(name: str) -> Object:
    terms = [
        {"topologyKey": f"zone-{number}", "labelSelector": {"matchLabels": {"app": "none"}}}
        for number in range(500)
    ]
    return pod(name, affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}})


@pytest.mark.parametrize("transport", ["in-process", "https"])
async def test_pods_with_many_wishes_leave_the_loop_to_others(
    transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_loop: set[tuple[str, str, bool]] = set()
    loop = threading.get_ident()
    decide, read, add = Cycle.decide, PodReader.read, Snapshot.add_pod

    def note(what: str, name: str) -> None:
        on_loop.add((what, name, threading.get_ident() == loop))

    def noted_decide(self: Cycle, pod: Pod) -> Decision:
        note("decide", pod.name)
        return decide(self, pod)

    def noted_read(self: PodReader, obj: Object) -> Pod:
        note("read", obj["metadata"]["name"])
        return read(self, obj)

    def noted_add(self: Snapshot, pod: Pod) -> None:
        note("add", pod.name)
        add(self, pod)

    monkeypatch.setattr(Cycle, "decide", noted_decide)
    monkeypatch.setattr(PodReader, "read", noted_read)
    monkeypatch.setattr(Snapshot, "add_pod", noted_add)
    async with Cluster() as cluster:
        client = cluster.client
        async with scheduling(client if transport == "in-process" else cluster.rest_client()) as scheduler:
            await add_node(client, node("one"))
            await client.create(PODS, pod("light"))
            await eventually(partial(is_on, client, "light", "one"))
            assert ("decide", "light", True) in on_loop and ("add", "light", True) in on_loop
            await client.create(PODS, _heavy("heavy"))
            await eventually(partial(is_on, client, "heavy", "one"))
            assert not {entry for entry in on_loop if entry[1] == "heavy" and entry[2]}
            # The labels of other pods are held against its wishes.
            assert scheduler.snapshot.weight > off_loop.LARGE
            await client.delete(PODS, "heavy", "default", grace=0)
            await eventually(lambda: not scheduler.snapshot.terms.weight)


async def test_changes_are_held_against_many_wishes_beside_the_loop() -> None:
    async with Cluster() as cluster:
        client = cluster.client
        async with scheduling(client) as scheduler:
            await client.create(PODS, _heavy("waits"))  # there is no node
            await eventually(lambda: scheduler.queue.weight > off_loop.LARGE)
            await add_node(client, node("one"))
            await eventually(partial(is_on, client, "waits", "one"))
            assert scheduler.queue.weight == 0
