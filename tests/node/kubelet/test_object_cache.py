"""The objects that pods refer to."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.client import NotFound, Ref
from pybernetes.client.refs import CONFIG_MAPS
from pybernetes.lib.clock import ManualClock
from pybernetes.node.kubelet.object_cache import NotSynced, ObjectCache, references
from tests.node.kubelet.pods import pod


def test_references() -> None:
    definition = pod(
        {"envFrom": [{"configMapRef": {"name": "m1"}}]},
        imagePullSecrets=[{"name": "s1"}],
        volumes=[
            {"name": "a", "secret": {"secretName": "s2"}},
            {
                "name": "b",
                "projected": {"sources": [{"configMap": {"name": "m2"}}, {"secret": {"name": "s3"}}]},
            },
        ],
    )
    assert {(ref.plural, name) for ref, _, name in references(definition)} == {
        ("configmaps", "m1"), ("configmaps", "m2"), ("secrets", "s1"), ("secrets", "s2"), ("secrets", "s3"),
    }  # fmt: skip


class Fetching:
    """A client that counts what is fetched; only some objects exist."""

    def __init__(self) -> None:
        self.fetched: list[str] = []
        self.failure: Exception | None = None

    async def get(self, ref: Ref, name: str, namespace: str) -> Object:
        self.fetched.append(name)
        if self.failure is not None:
            raise self.failure
        if not name.endswith("0"):
            raise NotFound(404, "NotFound", "not found")
        return {"metadata": {"name": name}}


def naming(uid: str, count: int) -> Object:
    """Return a pod that names config maps."""
    sources = [{"configMapRef": {"name": f"{uid}-{number}", "optional": True}} for number in range(count)]
    definition = pod({"envFrom": sources})
    definition["metadata"]["uid"] = uid
    return definition


async def test_a_pod_that_names_very_many_objects() -> None:
    """Each watch is a connection to the API server, and names cost nothing."""
    client, clock = Fetching(), ManualClock()
    fetching: Any = client
    cache = ObjectCache(fetching, clock, lambda uids: None)
    cache.register(naming("greedy", 20_000))
    cache.register(naming("modest", 20))
    assert len(cache._watched) == 70 and cache.refresh_delay("modest") is None
    assert cache.refresh_delay("greedy") == 60.0
    names = [f"greedy-{number}" for number in range(100, 200)]
    unwatched = [name for name in names if (CONFIG_MAPS, "n", name) not in cache._watched]
    for _ in range(2):
        for name in unwatched:
            obj = await cache.get(CONFIG_MAPS, "n", name)
            assert (obj is not None) == name.endswith("0")
    assert client.fetched == unwatched, "fetched once"
    await clock.advance(61)
    await cache.get(CONFIG_MAPS, "n", unwatched[0])
    assert client.fetched == [*unwatched, unwatched[0]], "and again later"
    client.failure = OSError("unreachable")
    await clock.advance(61)
    with pytest.raises(NotSynced, match="unreachable"):
        await cache.get(CONFIG_MAPS, "n", unwatched[0])
    cache.register(naming("greedy", 20_000))
    assert len(cache._watched) == 70
    shared = pod({"envFrom": [{"configMapRef": {"name": unwatched[0]}}]})
    cache.register(shared)
    assert len(cache._watched) == 71 and cache.refresh_delay("u") is None, "what another pod has too many of"
    cache.unregister("u")
    assert len(cache._watched) == 71, "somebody still names it"
    cache.unregister("greedy")
    assert len(cache._watched) == 20 and not cache._fetched
    with pytest.raises(NotSynced, match="not registered"):
        await cache.get(CONFIG_MAPS, "n", unwatched[0])
    for number in range(30):
        cache.register(naming(f"p{number}", 50))
    assert len(cache._watched) == 1000
    cache.unregister("p0")
    await cache.stop()
