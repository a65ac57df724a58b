"""Definitions that come and go leave nothing behind."""

from __future__ import annotations

import gc
from functools import partial
from typing import Any

from bench.harness.definitions import DEFINITIONS, definition
from pybernetes.client import Client
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import CUSTOM_RESOURCE_DEFINITIONS
from pybernetes.lib.memory import forgetting
from tests.cluster import Cluster
from tests.support import eventually


async def use(client: Client, made: dict[str, Any]) -> bool:
    """Make an object, once the kind is served."""
    spec = made["spec"]
    path = f"/apis/{spec['group']}/v1/namespaces/default/{spec['names']['plural']}"
    body = {
        "apiVersion": f"{spec['group']}/v1",
        "kind": spec["names"]["kind"],
        "metadata": {"name": "a"},
        "spec": {"size": 3},
    }
    try:
        await client.call("POST", path, body=body)
    except StatusError:
        return False
    assert (await client.call("GET", path))["items"]
    return True


async def test_nothing_is_left_of_definitions_that_were_used_and_deleted() -> None:
    async with Cluster() as cluster:
        client = cluster.rest_client()
        lists = cluster.server.context.lists

        async def round_() -> int:
            made = [definition(number) for number in range(12)]
            for obj in made:
                await client.create(CUSTOM_RESOURCE_DEFINITIONS, obj)
                await eventually(partial(use, client, obj))
            for obj in made:
                await client.call("DELETE", f"{DEFINITIONS}/{obj['metadata']['name']}")

            async def gone() -> bool:
                return not (await client.call("GET", DEFINITIONS))["items"]

            await eventually(gone)
            await cluster.server.store.compact(cluster.server.store.revision)
            await forgetting.forget()  # what is decoded stays for a moment
            gc.collect()
            return len(gc.get_objects())

        await round_()
        before, listed = await round_(), len(lists)
        after = max([await round_() for _ in range(2)])
        # One definition is hundreds of objects.
        assert after - before < 200
        assert len(lists) == listed
