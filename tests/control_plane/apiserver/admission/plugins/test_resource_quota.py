"""ResourceQuota and LimitRanger: charged, refused, and never beyond the limit however many ask at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pybernetes.client.client import Client
from pybernetes.client.errors import Forbidden
from pybernetes.client.refs import NAMESPACES, PODS
from pybernetes.client.refs import RESOURCE_QUOTAS as QUOTAS
from pybernetes.control_plane.store.protocol import Conflict, Record
from tests.cluster import Cluster
from tests.cluster import pod as cluster_pod
from tests.control_plane.apiserver.admission.world import Object, World, pod, requests
from tests.control_plane.store.etcd_server import etcd
from tests.support import eventually, run

FORBIDDEN = 'pods "p" is forbidden: '


def quota(hard: Object, used: Object | None = None, name: str = "q", **spec: Any) -> Object:
    status = {"hard": hard, "used": used if used is not None else {key: "0" for key in hard}}
    return {"metadata": {"name": name}, "spec": {"hard": hard, **spec}, "status": status}


def used(world: World, name: str = "q") -> Object:
    return world.stored("", "resourcequotas", name)["status"]["used"]


def test_a_write_is_charged() -> None:
    async def test() -> None:
        async with World() as world:
            chain = world.chain("ResourceQuota")
            assert not await world.refusal(chain, "pods", pod()), "no quota, no limit"
            await world.add("", "resourcequotas", quota({"pods": "2", "cpu": "1"}))
            asks = pod(container=requests({"cpu": "500m"}))
            await world.admit(chain, "pods", asks, dry_run=True)
            assert used(world) == {"pods": "0", "cpu": "0"}
            await world.admit(chain, "pods", asks)
            await world.admit(chain, "pods", asks)
            assert used(world) == {"pods": "2", "cpu": "1"}
            exceeded = (
                "exceeded quota: q, requested: cpu=500m,pods=1, used: cpu=1,pods=2, limited: cpu=1,pods=2"
            )
            assert await world.refusal(chain, "pods", asks) == FORBIDDEN + exceeded
            assert await world.refusal(chain, "pods", asks, dry_run=True) == FORBIDDEN + exceeded
            assert await world.refusal(chain, "pods", pod("", metadata={"generateName": "web-"})) == (
                'pods "web-" is forbidden: failed quota: q: must specify cpu for: c'
            )
            assert not await world.refusal(chain, "pods", asks, namespace="two")
            assert not await world.refusal(chain, "events", {"metadata": {"name": "e"}})
            assert not await world.refusal(chain, "namespaces", {"metadata": {"name": "n"}})
            assert not await world.refusal(chain, "pods", asks, asks, subresource="status")

    run(test())


def test_several_quotas_are_charged_together() -> None:
    async def test() -> None:
        async with World() as world:
            chain = world.chain("ResourceQuota")
            await world.add("", "resourcequotas", quota({"pods": "9"}, name="a"))
            await world.add("", "resourcequotas", quota({"count/pods": "1"}, name="b"))
            await world.add("", "resourcequotas", quota({"pods": "9"}, name="c", scopes=["NotBestEffort"]))
            await world.admit(chain, "pods", pod())
            assert "exceeded quota: b" in await world.refusal(chain, "pods", pod())
            assert [used(world, name) for name in "abc"] == [
                {"pods": "1"},
                {"count/pods": "1"},
                {"pods": "0"},
            ]

    run(test())


def test_a_quota_that_is_not_measured_yet_lets_nothing_in() -> None:
    async def test() -> None:
        async with World() as world:
            await world.add("", "resourcequotas", quota({"pods": "1"}, used={}))
            message = "status unknown for quota: q, resources: pods"
            assert await world.refusal(world.chain("ResourceQuota"), "pods", pod()) == FORBIDDEN + message

    run(test())


def test_what_must_be_under_a_quota() -> None:
    scopes = [{"scopeName": "PriorityClass", "operator": "Exists"}]
    configuration = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "ResourceQuotaConfiguration",
        "limitedResources": [
            {"resource": "pods", "matchContains": ["cpu"]},
            {"resource": "pods", "matchScopes": scopes},
        ],
    }

    async def test() -> None:
        async with World() as world:
            chain = world.chain("ResourceQuota", ResourceQuota=configuration)
            asks = pod(container=requests({"cpu": "1"}))
            message = "insufficient quota to consume: cpu,requests.cpu"
            assert await world.refusal(chain, "pods", asks) == FORBIDDEN + message
            problem = await world.refusal(chain, "pods", pod(priorityClassName="x"))
            assert problem == "insufficient quota to match these scopes: [{PriorityClass Exists []}]"
            await world.add("", "resourcequotas", quota({"cpu": "1", "requests.cpu": "1"}))
            assert not await world.refusal(chain, "pods", asks)

    run(test())


class Racing:
    """Lets somebody else be faster with the next writes of a key."""

    def __init__(self, world: World, key: str, winners: list[Object]) -> None:
        self._world, self._key, self._winners = world, key, winners
        self._update = world.store.update

    async def update(self, key: str, value: bytes, revision: int, **more: Any) -> Any:
        if key.endswith(self._key) and self._winners:
            winner = self._winners.pop(0)
            winners, self._winners = self._winners, []
            await self._world.add("", "resourcequotas", winner)
            self._winners = winners
        return await self._update(key, value, revision, **more)


@pytest.mark.parametrize(("elsewhere", "fits"), [(["1"], True), (["1", "1"], True), (["1", "2"], False)])
def test_a_lost_race_is_run_again(monkeypatch: pytest.MonkeyPatch, elsewhere: list[str], fits: bool) -> None:
    async def test() -> None:
        async with World() as world:
            chain = world.chain("ResourceQuota")
            for name in "ab":
                await world.add("", "resourcequotas", quota({"pods": "2"}, name=name))
            winners = [quota({"pods": "2"}, {"pods": number}, "b") for number in elsewhere]
            monkeypatch.setattr(world.store, "update", Racing(world, "/b", winners).update)
            problem = await world.refusal(chain, "pods", pod())
            assert bool(problem) != fits and ("exceeded quota: b" in problem) != fits
            # What was charged first stays charged until the controller counts again.
            assert used(world, "a") == {"pods": "1"} and used(world, "b") == {"pods": "2"}

    run(test())


def test_a_race_that_never_ends_is_a_conflict(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(key: str, value: bytes, revision: int, **more: Any) -> Any:
        raise Conflict(key, Record(key, value, revision))

    async def test() -> None:
        async with World() as world:
            await world.add("", "resourcequotas", quota({"pods": "2"}))
            monkeypatch.setattr(world.store, "update", never)
            problem = await world.refusal(world.chain("ResourceQuota"), "pods", pod())
            assert problem.startswith('Operation cannot be fulfilled on resourcequotas "q"')

    run(test())


def test_a_client_that_goes_away_leaves_the_others_their_turn() -> None:
    async def test() -> None:
        async with World() as world:
            chain = world.chain("ResourceQuota")
            await world.add("", "resourcequotas", quota({"pods": "2"}))
            impatient = asyncio.create_task(world.admit(chain, "pods", pod("impatient")))
            patient = [asyncio.create_task(world.refusal(chain, "pods", pod(str(n)))) for n in range(3)]
            await asyncio.sleep(0)
            impatient.cancel()
            refusals = await asyncio.gather(*patient)
            assert sum(bool(problem) for problem in refusals) == 1 and used(world) == {"pods": "2"}

    run(test())


# -- at once ---------------------------------------------------------------------------------------------


@contextmanager
def backends(name: str, directory: Path) -> Iterator[list[list[str]]]:
    """Yield the flags of servers that share one store."""
    with ExitStack() as stack:
        if name == "etcd":
            (member,) = stack.enter_context(etcd(directory))
            yield [["--storage-backend=etcd3", f"--etcd-servers={member.address}"]] * 2
        elif name == "sqlite":
            yield [["--storage-backend=sqlite", f"--data-dir={directory}"]]
        else:
            yield [[]]


async def _create(client: Client, name: str, refused: list[str]) -> None:
    try:
        await client.create(PODS, cluster_pod(name, "one"))
    except Forbidden as error:
        refused.append(error.message)


@pytest.mark.parametrize("backend", ["memory", "sqlite", "etcd"])
def test_two_hundred_at_once_never_exceed_the_quota(backend: str, tmp_path: Path) -> None:
    """On etcd, two servers take half of the writes each."""

    async def test(flags: list[list[str]]) -> None:
        async with AsyncExitStack() as stack:
            servers = [await stack.enter_async_context(Cluster(*arguments)) for arguments in flags]
            clients = [server.client for server in servers]
            await clients[0].create(NAMESPACES, {"metadata": {"name": "one"}})
            made = await clients[0].create(
                QUOTAS, {**quota({"pods": "50"}), "metadata": {"name": "q", "namespace": "one"}}
            )
            made["status"] = {"hard": {"pods": "50"}, "used": {"pods": "0"}}
            await clients[0].update_status(QUOTAS, made)
            for client in clients:
                await eventually(partial(_limited, client))
            refused: list[str] = []
            writes = [_create(clients[n % len(clients)], f"p-{n}", refused) for n in range(200)]
            await asyncio.gather(*writes)
            pods = (await clients[0].list(PODS, "one")).items
            counted = (await clients[0].get(QUOTAS, "q", "one"))["status"]["used"]
            assert (len(pods), counted, len(refused)) == (50, {"pods": "50"}, 150)
            assert all(
                "exceeded quota: q, requested: pods=1, used: pods=50, limited: pods=50" in problem
                for problem in refused
            )

    with backends(backend, tmp_path) as flags:
        run(test(flags))


async def _limited(client: Client) -> bool:
    try:
        current = await client.get(QUOTAS, "q", "one")
    except Exception:
        return False
    return "hard" in current.get("status", {})


# -- LimitRanger -----------------------------------------------------------------------------------------

RANGE = {
    "metadata": {"name": "l"},
    "spec": {
        "limits": [
            {
                "type": "Container",
                "default": {"cpu": "1"},
                "defaultRequest": {"cpu": "500m"},
                "max": {"cpu": "2"},
            },
            {"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}},
        ]
    },
}


def test_limit_ranger() -> None:
    async def test() -> None:
        async with World() as world:
            chain = world.chain("LimitRanger")
            assert await world.admit(chain, "pods", pod()) == pod()
            await world.add("", "limitranges", RANGE)
            made = await world.admit(chain, "pods", pod())
            assert made["spec"]["containers"][0]["resources"] == {
                "requests": {"cpu": "500m"},
                "limits": {"cpu": "1"},
            }
            too_much = pod(container=requests({"cpu": "4"}, {"cpu": "3"}))
            message = FORBIDDEN + "maximum cpu usage per Container is 2, but limit is 3"
            assert await world.refusal(chain, "pods", too_much) == message
            assert not await world.refusal(chain, "pods", too_much, pod()), (
                "what is there already is not judged again"
            )
            assert await world.refusal(chain, "pods", too_much, pod(), subresource="resize") == message
            going = pod(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
            assert not await world.refusal(chain, "pods", too_much, going, subresource="resize")
            claim = {"metadata": {"name": "c"}, "spec": {"resources": {"requests": {"storage": "2Gi"}}}}
            expected = "maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi"
            assert (await world.refusal(chain, "persistentvolumeclaims", claim)).endswith(expected)
            two = pod(container=requests({"cpu": "3"}, {"cpu": "3"}), initContainers=[
                {"name": "i", **requests({"cpu": "4"}, {"cpu": "4"})}])  # fmt: skip
            assert await world.refusal(chain, "pods", two) == (
                FORBIDDEN
                + "[maximum cpu usage per Container is 2, but limit is 3, maximum cpu usage per Container is 2, "
                "but limit is 4]"
            )

    run(test())
