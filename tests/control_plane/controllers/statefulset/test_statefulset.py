"""StatefulSets against a real API server and hollow nodes."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import (
    CONTROLLER_REVISIONS,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    STATEFUL_SETS,
)
from pybernetes.runtime.owned_objects import controller_of
from tests.control_plane.controllers._workload.running import images, status
from tests.control_plane.controllers.world import World, workload
from tests.support import eventually


async def test_a_stateful_set_in_order() -> None:
    async with World() as world:
        seen: list[tuple[str, str]] = []

        def note(old: Object | None, new: Object | None) -> None:
            if old is None and new is not None:
                seen.append(("+", new["metadata"]["name"]))
            elif new is None and old is not None:
                seen.append(("-", old["metadata"]["name"]))

        world.view.informers.get(PODS).add_handler(note)
        claim = {
            "metadata": {"name": "data"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        }
        policy = {"whenDeleted": "Delete", "whenScaled": "Delete"}
        given = workload("db", replicas=3, serviceName="db", volumeClaimTemplates=[claim], persistentVolumeClaimRetentionPolicy=policy)  # fmt: skip
        await world.client.create(STATEFUL_SETS, given)
        await eventually(lambda: status(world.get(STATEFUL_SETS, "db")).get("availableReplicas") == 3)
        assert seen == [("+", "db-0"), ("+", "db-1"), ("+", "db-2")]
        claims = (await world.client.list(PERSISTENT_VOLUME_CLAIMS, "default")).items
        assert sorted(obj["metadata"]["name"] for obj in claims) == ["data-db-0", "data-db-1", "data-db-2"]
        assert {controller_of(obj)["kind"] for obj in claims} == {"StatefulSet"}  # type: ignore[index]
        seen.clear()
        patch = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "nginx:2"}]}}}}
        await world.client.patch(STATEFUL_SETS, "db", patch, "default", type="strategic")
        await eventually(lambda: images(world.pods()) == {"nginx:2"} and len(world.pods()) == 3)
        assert seen == [(sign, f"db-{number}") for number in (2, 1, 0) for sign in "-+"]
        done = await eventually(
            lambda: (s := status(world.get(STATEFUL_SETS, "db"))).get("currentRevision") == s.get("updateRevision") and s
        )  # fmt: skip
        assert done["updatedReplicas"] == 3
        assert len((await world.client.list(CONTROLLER_REVISIONS, "default")).items) == 2
        await world.client.patch(STATEFUL_SETS, "db", {"spec": {"replicas": 1}}, "default")
        await eventually(lambda: status(world.get(STATEFUL_SETS, "db")).get("replicas") == 1)
        left = {
            obj["metadata"]["name"]: controller_of(obj)["kind"]  # type: ignore[index]
            for obj in (await world.client.list(PERSISTENT_VOLUME_CLAIMS, "default")).items
        }
        assert left == {"data-db-0": "StatefulSet", "data-db-1": "Pod", "data-db-2": "Pod"}
