"""Controllers against a real API server, over both transports."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pybernetes.client import Client, NotFound
from pybernetes.client.refs import CONFIG_MAPS, SECRETS
from pybernetes.lib.clock import ManualClock
from pybernetes.runtime import Controller, Runtime, by_controller, split_key
from tests.cluster import Cluster
from tests.support import eventually

TRANSPORTS = ["rest", "local"]


class Mirror(Controller):
    """Makes one Secret per ConfigMap, counting how often it thought that there was none."""

    name = "mirror"
    kind = CONFIG_MAPS
    owns = (SECRETS,)
    indexes = {SECRETS: (by_controller,)}

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self.calls: list[str] = []
        self.created = 0
        self.fail = 0

    async def reconcile(self, key: str) -> float | None:
        if not key.startswith("default/"):  # the server has ConfigMaps of its own
            return None
        self.calls.append(key)
        if self.fail:
            self.fail -= 1
            raise RuntimeError("not now")
        namespace, name = split_key(key)
        source = self.objects.get(key)
        if source is None:
            return None
        owned = self.cache(SECRETS).find(by_controller, source["metadata"]["uid"])
        if len(owned) < int(source.get("data", {}).get("count", "1")):
            self.created += 1
            reference = {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "name": name,
                "uid": source["metadata"]["uid"],
                "controller": True,
            }
            meta = {"generateName": f"{name}-", "namespace": namespace, "ownerReferences": [reference]}
            await self.client.create(SECRETS, {"metadata": meta})
        return None


@asynccontextmanager
async def running(transport: str) -> AsyncIterator[tuple[Cluster, Mirror]]:
    async with Cluster() as cluster:
        client = cluster.rest_client() if transport == "rest" else cluster.client
        runtime = Runtime(client)
        controller = Mirror(runtime)
        runtime.informers.start()
        task = asyncio.create_task(controller.run())
        await runtime.informers.wait_synced()
        try:
            yield cluster, controller
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await runtime.informers.stop()


def source(name: str, count: int = 1) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "default"}, "data": {"count": str(count)}}


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_controller_sees_its_own_writes(transport: str) -> None:
    async with running(transport) as (cluster, controller):
        for number in range(10):
            await cluster.client.create(CONFIG_MAPS, source(f"c{number}", 5))
        secrets = controller.cache(SECRETS)
        await eventually(lambda: len(secrets) == 50)
        # Every creation was decided on with a cache that had seen the one before.
        assert controller.created == 50
        await eventually(lambda: not controller.queue._working and not controller.queue._held)
        assert controller.created == 50 == len((await cluster.client.list(SECRETS, "default")).items)


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_what_it_owns_is_put_back(transport: str) -> None:
    async with running(transport) as (cluster, controller):
        await cluster.client.create(CONFIG_MAPS, source("one"))
        secrets = controller.cache(SECRETS)
        (secret,) = await eventually(lambda: secrets.values())
        await cluster.client.delete(SECRETS, secret["metadata"]["name"], "default")
        await eventually(lambda: controller.created == 2)
        with pytest.raises(NotFound):
            await cluster.client.get(SECRETS, secret["metadata"]["name"], "default")


async def test_failures_are_tried_again() -> None:
    """CVE-2024-0793: an object that makes a controller fail stopped all of them."""
    async with running("local") as (cluster, controller):
        controller.fail = 3
        await cluster.client.create(CONFIG_MAPS, source("one"))
        await eventually(lambda: controller.created == 1 and not controller.queue._working)
        assert controller.calls.count("default/one") >= 4
        assert controller.metrics.results["error"] == 3
        assert controller.queue.failures("default/one") == 0


class Mapped(Controller):
    """Is called for a ConfigMap when a Secret names it, and again some time later."""

    name = "mapped"
    kind = CONFIG_MAPS

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self.calls: list[str] = []

    def watches(self) -> Any:
        return {
            SECRETS: lambda obj: [f"default/{name}" for name in obj["metadata"].get("labels", {}).values()]
        }

    def concerns(self, old: Any, new: Any) -> bool:
        return False

    async def reconcile(self, key: str) -> float | None:
        self.calls.append(key)
        return 60.0 if key == "default/again" else None


async def test_mapping_and_being_called_later() -> None:
    async with Cluster() as cluster:
        clock = ManualClock()
        runtime = Runtime(cluster.client, clock=clock)
        controller = Mapped(runtime)
        runtime.informers.start()
        task = asyncio.create_task(controller.run())
        await runtime.informers.wait_synced()
        await cluster.client.create(CONFIG_MAPS, source("ignored"))
        meta = {"name": "s", "namespace": "default", "labels": {"for": "one"}}
        await cluster.client.create(SECRETS, {"metadata": meta})
        await eventually(lambda: controller.calls == ["default/one"])
        await cluster.client.patch(SECRETS, "s", {"metadata": {"labels": {"for": "again"}}}, "default")
        await eventually(lambda: sorted(controller.calls) == ["default/again", "default/one", "default/one"])
        await clock.advance(59)
        assert controller.calls.count("default/again") == 1
        await clock.advance(2)
        await eventually(lambda: controller.calls.count("default/again") == 2)
        text = runtime.metrics.render().decode()
        assert 'workqueue_work_duration_seconds_count{name="mapped"} 4' in text
        assert 'controller_runtime_reconcile_total{controller="mapped",result="requeue_after"} 2' in text
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await runtime.informers.stop()


class Deleter(Controller):
    """Deletes a Secret that it sees, and counts how often it saw one."""

    name = "deleter"
    kind = CONFIG_MAPS
    owns = (SECRETS,)

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self.deleted = 0
        self.calls = 0

    async def reconcile(self, key: str) -> float | None:
        if not key.startswith("default/s"):  # the server has ConfigMaps of its own
            return None
        self.calls += 1
        secret = self.cache(SECRETS).get(key)
        if secret is not None:
            self.deleted += 1
            meta = secret["metadata"]
            await self.client.delete(SECRETS, meta["name"], meta["namespace"], uid=meta["uid"])
            self.enqueue(key)
        return None


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_deletion_is_seen_before_the_next_look(transport: str) -> None:
    async with Cluster() as cluster:
        client = cluster.rest_client() if transport == "rest" else cluster.client
        for number in range(20):
            await cluster.client.create(SECRETS, {"metadata": {"name": f"s{number}", "namespace": "default"}})
        runtime = Runtime(client)
        controller = Deleter(runtime)
        runtime.informers.start()
        task = asyncio.create_task(controller.run())
        await runtime.informers.wait_synced()
        for number in range(20):
            controller.enqueue(f"default/s{number}")
        await eventually(lambda: controller.calls >= 40)
        assert controller.deleted == 20 and len(controller.cache(SECRETS)) == 0
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await runtime.informers.stop()


async def test_a_key_waits_for_a_cache_that_sees_nothing() -> None:
    async with Cluster() as cluster:
        clock = ManualClock()
        runtime = Runtime(cluster.client, clock=clock)
        controller = Mirror(runtime)
        await cluster.client.create(CONFIG_MAPS, source("one", 2))
        runtime.informers.start()
        await runtime.informers.wait_synced()
        await runtime.informers.stop()  # the caches see nothing from now on
        task = asyncio.create_task(controller.run())
        await eventually(lambda: "default/one" in controller.queue._held)
        controller.enqueue("default/one")
        await clock.advance(1000)
        assert controller.created == 1  # it does not know whether there is one, so it makes no second
        runtime.informers.start()
        await eventually(lambda: controller.created == 2)
        secrets = controller.cache(SECRETS)
        await eventually(lambda: len(secrets) == 2 and not controller.queue._held)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await runtime.informers.stop()


class Lossy:
    """A transport that loses the answers to some creations."""

    def __init__(self, transport: Any, losses: int) -> None:
        self._transport, self._losses = transport, losses

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    async def send(self, method: str, *arguments: Any) -> Any:
        answer = await self._transport.send(method, *arguments)
        if method == "POST" and self._losses:
            self._losses -= 1
            raise ConnectionResetError("lost")
        return answer


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_creation_whose_answer_is_lost_is_not_repeated(transport: str) -> None:
    async with Cluster() as cluster:
        inner = (cluster.rest_client() if transport == "rest" else cluster.client).transport
        runtime = Runtime(Client(Lossy(inner, 3)))
        controller = Mirror(runtime)
        runtime.informers.start()
        task = asyncio.create_task(controller.run())
        await runtime.informers.wait_synced()
        for number in range(5):
            await cluster.client.create(CONFIG_MAPS, source(f"c{number}", 4))
        secrets = controller.cache(SECRETS)
        await eventually(lambda: len(secrets) == 20)
        await eventually(lambda: not controller.queue._held and not controller.queue._working)
        assert controller.created == 20 == len((await cluster.client.list(SECRETS, "default")).items)
        assert controller.metrics.results["error"] == 3 and secrets.lists > 1
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await runtime.informers.stop()


async def test_workers_that_never_wait_let_others_run() -> None:
    async with Cluster() as cluster:
        runtime = Runtime(cluster.client)
        controller = Mapped(runtime)
        runtime.informers.start()
        await runtime.informers.wait_synced()
        turns = 0

        async def other() -> None:
            nonlocal turns
            while len(controller.calls) < 20_000:
                turns += 1
                await asyncio.sleep(0)

        for number in range(20_000):
            controller.enqueue(f"default/{number}")
        task = asyncio.create_task(controller.run())
        await other()
        assert turns > 5
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await runtime.informers.stop()
