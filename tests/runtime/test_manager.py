"""Controllers while connections break and the server restarts: nothing twice, nothing missing."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from pybernetes.client.refs import CONFIG_MAPS, SECRETS
from pybernetes.runtime import Manager, by_controller
from tests.cluster import Cluster
from tests.runtime.test_controller import Mirror, source
from tests.support import eventually

OWNERS, CHILDREN = 8, 12


@pytest.mark.parametrize("seed", range(3))
async def test_broken_connections_and_restarts_make_no_duplicates(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    async with Cluster(data_dir=tmp_path) as cluster:
        manager = Manager(cluster.rest_client())
        controller = manager.add(Mirror)
        task = asyncio.create_task(manager.run())
        await eventually(lambda: controller.cache(CONFIG_MAPS).synced)
        for number in range(OWNERS):
            await cluster.client.create(CONFIG_MAPS, source(f"c{number}", CHILDREN))
        for _ in range(4):
            wanted = len(controller.cache(SECRETS)) + chance.randrange(1, 10)
            await eventually(lambda: len(controller.cache(SECRETS)) >= min(wanted, OWNERS * CHILDREN))  # noqa: B023
            for connection in list(cluster.server.http.connections):
                if chance.random() < 0.7:
                    connection.abort()
            if chance.random() < 0.5:
                await cluster.stop()
                await cluster.start()
        secrets = controller.cache(SECRETS)
        await eventually(lambda: len(secrets) >= OWNERS * CHILDREN)
        await eventually(lambda: not controller.queue._held and not controller.queue._working)
        stored = (await cluster.client.list(SECRETS, "default")).items
        assert len(stored) == OWNERS * CHILDREN
        for owner in controller.cache(CONFIG_MAPS):
            if owner["metadata"]["name"].startswith("c"):
                assert secrets.count(by_controller, owner["metadata"]["uid"]) == CHILDREN
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
