"""Informers: what they hold, what they tell, and how they recover."""

from __future__ import annotations

import asyncio
import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pybernetes.api import selectors
from pybernetes.api.resource import Object
from pybernetes.client import errors
from pybernetes.client.client import Client, Page
from pybernetes.client.refs import CONFIG_MAPS, NODES, PODS
from pybernetes.lib.clock import ManualClock
from pybernetes.runtime import Informer, Informers, by_labels, by_owner, key_of
from tests.cluster import Cluster, pod
from tests.support import eventually


def config(name: str, namespace: str = "default", **labels: str) -> Object:
    return {"metadata": {"name": name, "namespace": namespace, "labels": labels}}


class Model:
    """What a careful listener would believe, built from what a handler is told; contradictions fail."""

    def __init__(self) -> None:
        self.objects: dict[str, Object] = {}

    def __call__(self, old: Object | None, new: Object | None) -> None:
        key = key_of(new or old)  # type: ignore[arg-type]
        if old is None:
            assert new is not None and key not in self.objects
        else:
            assert key in self.objects
        if new is None:
            del self.objects[key]
        else:
            self.objects[key] = new


def versions(objects: dict[str, Object]) -> dict[str, str]:
    return {key: obj["metadata"]["resourceVersion"] for key, obj in objects.items()}


def held(informer: Informer) -> dict[str, str]:
    return {key: informer.get(key)["metadata"]["resourceVersion"] for key in list(informer.keys())}  # type: ignore[index]


async def stored(client: Client) -> dict[str, str]:
    return {key_of(obj): obj["metadata"]["resourceVersion"] for obj in (await client.list(CONFIG_MAPS)).items}


async def churn(client: Client, rounds: int, chance: random.Random) -> None:
    """Create, change and delete at random."""
    for _ in range(rounds):
        name = f"c{chance.randrange(12)}"
        try:
            match chance.randrange(3):
                case 0:
                    await client.create(CONFIG_MAPS, config(name))
                case 1:
                    patch = {"data": {"x": str(chance.random())}}
                    await client.patch(CONFIG_MAPS, name, patch, "default")
                case 2:
                    await client.delete(CONFIG_MAPS, name, "default")
        except (errors.AlreadyExists, errors.NotFound):
            pass


@pytest.mark.parametrize("transport", ["rest", "local"])
@pytest.mark.parametrize("streaming", [True, False])
async def test_it_follows(transport: str, streaming: bool) -> None:
    async with Cluster() as cluster:
        client = cluster.rest_client() if transport == "rest" else cluster.client
        chance = random.Random(7)
        await churn(cluster.client, 30, chance)
        informer = Informer(client, CONFIG_MAPS)
        informer._streaming = streaming
        model = Model()
        informer.add_handler(model)
        task = asyncio.create_task(informer.run())
        await informer.wait_synced()
        assert held(informer) == await stored(cluster.client) == versions(model.objects)
        await churn(cluster.client, 200, chance)
        expected = await stored(cluster.client)
        await eventually(lambda: held(informer) == expected)
        assert versions(model.objects) == expected
        assert informer.lists == 1
        task.cancel()


async def test_it_survives_the_servers_restart(tmp_path: Path) -> None:
    cluster = Cluster(data_dir=tmp_path)
    async with cluster:
        informer = Informer(cluster.rest_client(), CONFIG_MAPS)
        model = Model()
        informer.add_handler(model)
        task = asyncio.create_task(informer.run())
        await informer.wait_synced()
        chance = random.Random(11)
        for _ in range(3):
            await churn(cluster.client, 20, chance)
            await cluster.stop()
            await cluster.start()
            await churn(cluster.client, 20, chance)  # while the informer may not have come back yet
            expected = await stored(cluster.client)
            await eventually(lambda: held(informer) == expected)  # noqa: B023
            assert versions(model.objects) == expected
        task.cancel()


async def test_it_lists_again_when_history_is_gone_or_was_never() -> None:
    async with Cluster() as cluster:
        informer = Informer(cluster.rest_client(), CONFIG_MAPS, "default")
        model = Model()
        informer.add_handler(model)
        await cluster.client.create(CONFIG_MAPS, config("old"))
        await churn(cluster.client, 50, random.Random(3))
        task = asyncio.create_task(informer.run())
        await informer.wait_synced()
        await cluster.stop()
        await cluster.start()  # a new memory: everything is gone, and time starts over
        await cluster.client.create(CONFIG_MAPS, config("new"))
        await eventually(lambda: list(informer.keys()) == ["default/new"])
        assert list(model.objects) == ["default/new"] and informer.lists == 2
        task.cancel()


class Scripted:
    """A client whose lists and watches are written down; each watch is a list of batches or an error."""

    def __init__(self, *watches: Any) -> None:
        self.watches = list(watches)
        self.asked: list[dict[str, Any]] = []

    def watch(self, kind: Any, namespace: str, **options: Any) -> Any:
        self.asked.append(options)
        script = self.watches.pop(0) if self.watches else None
        return _ScriptedWatch(script)


class _ScriptedWatch:
    def __init__(self, script: Any) -> None:
        self._script = list(script) if isinstance(script, list) else script

    async def __aenter__(self) -> _ScriptedWatch:
        return self

    async def __aexit__(self, *exc: object) -> None:
        pass

    async def batch(self) -> list[tuple[str, Object]]:
        if self._script is None:
            await asyncio.Event().wait()
        if isinstance(self._script, Exception):
            raise self._script
        step = self._script.pop(0) if self._script else []
        if isinstance(step, Exception):
            raise step
        return step


def at(name: str, version: int) -> Object:
    return {"metadata": {"name": name, "namespace": "default", "resourceVersion": str(version)}}


def mark(version: int, end: bool = False) -> tuple[str, Object]:
    meta: Object = {"resourceVersion": str(version)}
    if end:
        meta["annotations"] = {"k8s.io/initial-events-end": "true"}
    return "BOOKMARK", {"metadata": meta}


async def test_it_resumes_where_it_was_and_waits_longer_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random, "random", lambda: 1.0)
    clock = ManualClock()
    client = Scripted(
        [
            [("ADDED", at("a", 3)), ("ADDED", at("b", 5)), mark(6, end=True)],
            [("MODIFIED", at("a", 7))],
            [mark(9)],
        ],
        ConnectionRefusedError("refused"),
        ConnectionRefusedError("refused"),
        [[("DELETED", at("b", 12))], errors.Expired(410, "Expired", "too old")],
        [[("ADDED", at("c", 20)), mark(21, end=True)]],
    )
    informer = Informer(client, CONFIG_MAPS, clock=clock)  # type: ignore[arg-type]
    told: list[tuple[str | None, str | None]] = []

    def tell(old: Object | None, new: Object | None) -> None:
        told.append((old["metadata"]["name"] if old else None, new["metadata"]["name"] if new else None))

    informer.add_handler(tell)
    task = asyncio.create_task(informer.run())
    await clock.advance(0)
    assert held(informer) == {"default/a": "7", "default/b": "5"} and informer.version == 9
    assert client.asked[0]["initial"] and client.asked[0]["resource_version"] == ""
    assert not client.asked[1]["initial"] and client.asked[1]["resource_version"] == "9"
    assert len(client.asked) == 2  # refused: it waits
    await clock.advance(0.1)
    assert len(client.asked) == 3
    await clock.advance(0.199)
    assert len(client.asked) == 3  # twice as long now
    await clock.advance(0.1)
    assert list(informer.keys()) == ["default/c"] and informer.version == 21 and informer.lists == 2
    assert told == [(None, "a"), (None, "b"), ("a", "a"), ("b", None), ("a", None), (None, "c")]
    assert [asked["resource_version"] for asked in client.asked] == ["", "9", "9", "9", "", "21"]
    task.cancel()


async def test_a_server_without_streaming_lists_is_no_trouble(caplog: pytest.LogCaptureFixture) -> None:
    """Upstream's says 500 when its etcd is an old one, and ordinary clients list instead."""

    class Old(Scripted):
        async def list(self, *_: Any, **options: Any) -> Page:
            return Page([at("a", 3)], "5", "")

    refused = errors.StatusError(500, "InternalError", "a watch stream was requested by the client but …")
    clock, client = ManualClock(), Old(refused)
    informer, troubles = Informer(client, CONFIG_MAPS, clock=clock), []  # type: ignore[arg-type]
    informer.on_error = lambda: troubles.append(informer.error)
    task = asyncio.create_task(informer.run())
    await clock.advance(0)  # and without a pause
    assert held(informer) == {"default/a": "3"} and client.asked[1]["resource_version"] == "5"
    assert troubles == [] and not [record for record in caplog.records if record.levelname == "WARNING"]
    task.cancel()


async def test_waiting_for_a_version() -> None:
    informer = Informer(Scripted(), CONFIG_MAPS)  # type: ignore[arg-type]
    called: list[int] = []
    informer._replace({}, "10")
    assert not informer.when_seen(10, lambda: called.append(10))
    for version in (13, 11, 12):
        assert informer.when_seen(version, lambda version=version: called.append(version))  # type: ignore[misc]
    informer._apply([("ADDED", at("a", 12))])
    assert called == [11, 12]
    informer._replace({}, "5")  # the store went back: nobody waits forever
    assert called == [11, 12, 13]


@pytest.mark.parametrize("version", ["²", "9" * 5000, "opaque"])
async def test_a_version_that_is_no_number_is_passed_on_as_it_is(version: str) -> None:
    informer = Informer(Scripted(), CONFIG_MAPS)  # type: ignore[arg-type]
    called: list[int] = []
    informer._replace({}, "10")
    assert informer.when_seen(11, lambda: called.append(11))
    informer._replace({}, version)
    assert (informer.resource_version, informer.version, called) == (version, 0, [11])


async def test_a_broken_handler_does_not_stop_the_others() -> None:
    informer = Informer(Scripted(), CONFIG_MAPS)  # type: ignore[arg-type]
    told: list[Any] = []

    def broken(old: Any, new: Any) -> None:
        raise RuntimeError("broken")

    informer.add_handler(broken)
    informer.add_handler(lambda old, new: told.append(new))
    informer._apply([("ADDED", at("a", 1))])
    assert len(told) == 1


async def test_objects_are_shared_and_decoded_once() -> None:
    async with Cluster() as cluster:
        for number in range(5):
            await cluster.client.create(PODS, pod(f"p{number}"))
        one, two = (Informers(cluster.local_client()) for _ in range(2))
        first, second = one.get(PODS), two.get(PODS)
        assert one.get(PODS) is first
        for informer in (one, two):
            informer.start()
            await informer.wait_synced()
        await cluster.client.patch(PODS, "p1", {"metadata": {"labels": {"a": "b"}}}, "default")
        await eventually(
            lambda: all("labels" in (obj.get("default/p1") or {})["metadata"] for obj in (first, second))
        )
        for key in list(first.keys()):
            assert first.get(key) is second.get(key)
        for informer in (one, two):
            await informer.stop()


async def test_indexes_and_selection() -> None:
    async with Cluster() as cluster:
        client = cluster.client
        owner = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u-1"}
        await client.create(PODS, pod("a", labels={"app": "x", "tier": "1"}, ownerReferences=[owner]))
        await client.create(PODS, pod("b", labels={"app": "x", "tier": "2"}))
        await client.create(PODS, pod("c", "kube-system", labels={"app": "x", "tier": "1"}))
        informers = Informers(client)
        pods, nodes = informers.get(PODS), informers.get(NODES)
        pods.add_index(by_owner)
        informers.start()
        await informers.wait_synced()
        assert len(nodes) == 0

        def names(objects: list[Object]) -> list[str]:
            return sorted(obj["metadata"]["name"] for obj in objects)

        both = selectors.parse_labels("app=x,tier in (1,3)")
        for _ in range(2):
            assert names(pods.select(both, "default")) == ["a"]
            assert names(pods.select(both)) == ["a", "c"]
            assert names(pods.select(namespace="default")) == ["a", "b"]
            assert names(pods.select(selectors.parse_labels("app!=x"), "default")) == []
            pods.add_index(by_labels)  # the answers stay the same
        assert names(pods.find(by_owner, "u-1")) == ["a"]
        assert names(pods.in_namespace("kube-system")) == ["c"]
        assert pods.count(by_owner, "u-1") == 1 and pods.find_keys(by_owner, "u-1") == ["default/a"]
        await informers.stop()


async def test_a_server_that_ends_watches_at_once_is_not_pestered() -> None:
    clock = ManualClock()
    client = Scripted([[mark(5, end=True)]], *[[] for _ in range(50)])
    informer = Informer(client, CONFIG_MAPS, clock=clock)  # type: ignore[arg-type]
    task = asyncio.create_task(informer.run())
    await clock.advance(0)
    assert informer.synced and len(client.asked) == 2
    await clock.advance(10)
    assert 5 < len(client.asked) < 12
    task.cancel()


async def test_it_waits_for_a_server_of_the_same_process_that_has_stopped() -> None:
    async with Cluster() as cluster:
        informer = Informer(cluster.client, CONFIG_MAPS)
        task = asyncio.create_task(informer.run())
        await informer.wait_synced()
        await cluster.stop()
        for _ in range(200):
            await asyncio.sleep(0)
        assert not task.done()
        task.cancel()
        await cluster.start()


@pytest.mark.parametrize(
    ("informer", "namespace", "labels", "covered"),
    [
        ({}, "default", None, True),
        ({"namespace": "other"}, "default", None, False),
        ({"labels": "app=x"}, "default", {"app": "x"}, True),
        ({"labels": "app=x"}, "default", {"app": "y"}, False),
        ({"labels": "app=x"}, "default", None, False),
        ({"fields": "spec.nodeName=n"}, "default", None, False),
    ],
)
async def test_which_writes_come_back(
    informer: dict[str, str], namespace: str, labels: dict[str, str] | None, covered: bool
) -> None:
    made = Informer(Scripted(), CONFIG_MAPS, **informer)  # type: ignore[arg-type]
    assert made.covers(namespace, "default/a", labels) is covered
    made.put("default/a", at("a", 1))
    assert made.covers(namespace, "default/a", labels) is (informer.get("namespace") != "other")


async def test_an_informer_outlives_its_history() -> None:
    async with Cluster() as cluster:
        store = cluster.server.store
        for client in (cluster.client, cluster.rest_client()):
            maps = Informer(client, CONFIG_MAPS, "default")
            task = asyncio.create_task(maps.run())
            await maps.wait_synced()
            maps.resource_version, old = "1", maps._open
            await store.compact(store.revision)
            assert old is not None
            old.close()
            name = f"late-{id(client)}"
            await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": name, "namespace": "default"}})
            await eventually(partial(maps.get, f"default/{name}"))
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
