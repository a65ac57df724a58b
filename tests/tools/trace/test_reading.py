"""The creation of a pod with a real API server and the scheduler: read afterwards, followed, and by others than its owner."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from pybernetes.api.steps import ANNOTATION, Step, to_text
from pybernetes.client.client import Client
from pybernetes.client.errors import Forbidden, NotFound
from pybernetes.client.refs import EVENTS, NAMESPACES, PODS, ROLE_BINDINGS, ROLES
from pybernetes.tools.trace import reading
from pybernetes.tools.trace.timeline import Trace
from tests.cluster import Cluster, pod
from tests.control_plane.scheduler.helpers import add_node, scheduling
from tests.scheduling.builders import node
from tests.support import eventually

OF_THE_SERVER = ["request", "admission", "write"]
OF_THE_SCHEDULER = ["watch", "queue", "filter", "score", "bind"]


async def start(client: Client, name: str, uid: str) -> None:
    """Do what a kubelet does for a pod."""
    at = time.time()
    told = {
        ANNOTATION: to_text([Step("sandbox", at, at + 0.001), Step("start", at + 0.001, at + 0.002, "main")])
    }
    about = {"kind": "Pod", "name": name, "namespace": "default", "uid": uid}
    meta = {"name": f"{name}.1", "namespace": "default", "annotations": told}
    started = {
        "metadata": meta,
        "involvedObject": about,
        "reason": "Started",
        "source": {"component": "kubelet"},
    }
    await client.create(EVENTS, {**started, "type": "Normal", "message": ""})
    await client.patch_status(PODS, name, {"status": {"phase": "Running"}}, "default")


async def test_a_pod_is_followed_from_before_its_creation_until_it_runs() -> None:
    async with Cluster() as cluster, scheduling(cluster.client):
        client = cluster.client
        await add_node(client, node("n1"))
        seen: list[Trace] = []

        async def follow() -> None:
            async for told in reading.follow(client, "default", "web"):
                seen.append(told)

        following = asyncio.create_task(follow())
        made = await client.create(PODS, pod("web"))
        await eventually(
            lambda: seen and [row.name for row in seen[-1].steps][:8] == OF_THE_SERVER + OF_THE_SCHEDULER
        )
        assert seen[-1].steps[-1].name == "node watch" and seen[-1].steps[-1].end is None
        await start(client, "web", made["metadata"]["uid"])
        await following
        told = seen[-1]
        assert [row.name for row in told.steps] == [
            *OF_THE_SERVER, *OF_THE_SCHEDULER, "node watch", "sandbox", "start", "status", "status write",
        ]  # fmt: skip
        assert [row.detail for row in told.steps if row.name in ("filter", "bind")] == ["1 of 1 nodes", "n1"]
        assert told.precise and told.seconds is not None and told.seconds > 0
        again = await reading.read(client, "default", "web")
        assert again.as_json()["steps"] == told.as_json()["steps"]


async def test_a_flood_of_events_hides_nothing_and_is_kept_small() -> None:
    async with Cluster() as cluster, scheduling(cluster.client):
        client = cluster.client
        await add_node(client, node("n1"))
        made = await client.create(PODS, pod("web"))
        about = {"kind": "Pod", "name": "web", "namespace": "default", "uid": made["metadata"]["uid"]}
        for number in range(600):  # whose names come before those of others
            meta = {"name": f"a.{number}", "namespace": "default", "annotations": {"large": "x" * 1000}}
            event = {
                "metadata": meta,
                "involvedObject": about,
                "reason": "Unhealthy",
                "type": "Warning",
                "message": "x" * 1000,
            }
            await client.create(EVENTS, event)

        async def is_bound() -> bool:
            told = await reading.read(client, "default", "web")
            return [row.name for row in told.steps][:8] == OF_THE_SERVER + OF_THE_SCHEDULER

        await eventually(is_bound)
        assert len(str(reading.slim({**event, "kind": "Event"}))) < 200


async def test_what_others_may_not_see_is_not_shown() -> None:
    tokens = "reader-token,reader,2\nnobody-token,nobody,3\n"
    async with Cluster("--authorization-mode=RBAC", tokens=tokens) as cluster:
        client = cluster.client
        await client.create(NAMESPACES, {"metadata": {"name": "other"}})
        rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
        await client.create(ROLES, {"metadata": {"name": "reader", "namespace": "default"}, "rules": rules})
        subject = {"kind": "User", "name": "reader", "apiGroup": "rbac.authorization.k8s.io"}
        role = {"kind": "Role", "name": "reader", "apiGroup": "rbac.authorization.k8s.io"}
        meta = {"name": "reader", "namespace": "default"}
        await client.create(ROLE_BINDINGS, {"metadata": meta, "roleRef": role, "subjects": [subject]})
        for namespace in ("default", "other"):
            await client.create(PODS, pod("web", namespace))
        reader, nobody = cluster.rest_client("reader-token"), cluster.rest_client("nobody-token")
        told = await eventually(lambda: _read(reader))
        assert [row.name for row in told.steps] == [*OF_THE_SERVER, "queue"]
        assert "Events may not be read" in told.notes[0]
        for stranger, namespace in ((nobody, "default"), (reader, "other")):
            with pytest.raises(Forbidden):
                await reading.read(stranger, namespace, "web")
        # The times alone are as much a part of the pod.
        with pytest.raises(Forbidden):
            await nobody.call("GET", "/api/v1/namespaces/default/pods/web", "writeTimes=true")
        with pytest.raises(NotFound):
            await reading.read(reader, "default", "none")


async def _read(client: Client) -> Trace | None:
    try:
        return await reading.read(client, "default", "web")
    except Forbidden:
        return None  # the role is not known yet


@pytest.mark.parametrize(
    "answer",
    [
        {"kind": "Pod"}, None, [], "text", {"kind": "WriteTimes", "uid": "another", "writes": [{}]},
        {"kind": "WriteTimes", "uid": "u", "writes": [{}, 7, {"subresource": "", "phase": ""}]},
        {"kind": "WriteTimes", "uid": "u", "writes": [{"received": "1", "admission": 1, "write": 1, "written": 1}]},
        {"kind": "WriteTimes", "uid": "u", "writes": {"a": 1}}, {"kind": "WriteTimes", "uid": "u"},
    ],
)  # fmt: skip
async def test_a_server_of_others_or_a_hostile_one_tells_nothing(answer: Any) -> None:
    class Server:
        async def call(self, *arguments: Any) -> Any:
            return answer

    server: Any = Server()
    assert (
        list(await reading._writes(server, {"metadata": {"namespace": "n", "name": "p", "uid": "u"}})) == []
    )
