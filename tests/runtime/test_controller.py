"""Controllers against a real API server, over both transports."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pybernetes.client import NotFound
from pybernetes.client.refs import CONFIG_MAPS, SECRETS
from pybernetes.runtime import Controller, Runtime, by_controller, split_key
from tests.cluster import Cluster, eventually

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
    async with running("local") as (cluster, controller):
        controller.fail = 3
        await cluster.client.create(CONFIG_MAPS, source("one"))
        await eventually(lambda: controller.created == 1)
        assert controller.calls.count("default/one") >= 4
        assert controller.metrics.results["error"] == 3
        assert controller.queue.failures("default/one") == 0
