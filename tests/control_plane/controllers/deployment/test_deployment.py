"""Deployments against a real API server and hollow nodes."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import (
    DEPLOYMENTS,
    PODS,
    REPLICA_SETS,
)
from tests.control_plane.controllers._workload.running import has, images, status
from tests.control_plane.controllers.world import World, workload
from tests.support import eventually


async def test_a_deployment_rolls_out_scales_and_rolls_back() -> None:
    async with World() as world:
        await world.client.create(DEPLOYMENTS, workload("web", replicas=4))
        await eventually(lambda: status(world.get(DEPLOYMENTS, "web")).get("availableReplicas") == 4)
        await eventually(lambda: has(world.get(DEPLOYMENTS, "web"), "Progressing", "NewReplicaSetAvailable"))
        patch = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "nginx:2"}]}}}}
        await world.client.patch(DEPLOYMENTS, "web", patch, "default", type="strategic")
        await eventually(lambda: len(world.pods()) == 4 and images(world.pods()) == {"nginx:2"})
        await world.client.patch(DEPLOYMENTS, "web", {"spec": {"replicas": 2}}, "default")
        await eventually(lambda: status(world.get(DEPLOYMENTS, "web")).get("replicas") == 2)

        def sets() -> dict[str, Object]:
            revision = "deployment.kubernetes.io/revision"
            return {
                replica_set["metadata"]["annotations"][revision]: replica_set
                for replica_set in world.all(REPLICA_SETS)
            }

        await eventually(lambda: {revision: replica_set["spec"]["replicas"] for revision, replica_set in sets().items()} == {"1": 0, "2": 2})  # fmt: skip
        old = sets()["1"]["spec"]["template"]
        old = {**old, "metadata": {"labels": {"app": "web"}}}
        await world.client.patch(DEPLOYMENTS, "web", {"spec": {"template": old}}, "default")
        await eventually(lambda: len(world.pods()) == 2 and images(world.pods()) == {"nginx:1"})
        await eventually(lambda: has(world.get(DEPLOYMENTS, "web"), "Progressing", "NewReplicaSetAvailable"))
        await eventually(lambda: world.get(DEPLOYMENTS, "web")["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "3")  # fmt: skip
        assert len(world.all(REPLICA_SETS)) == 2


async def test_a_deployment_that_recreates_never_mixes() -> None:
    async with World() as world:
        await world.client.create(DEPLOYMENTS, workload("web", replicas=3, strategy={"type": "Recreate"}))
        await eventually(lambda: status(world.get(DEPLOYMENTS, "web")).get("availableReplicas") == 3)
        mixed = []
        world.view.informers.get(PODS).add_handler(
            lambda *_: mixed.append(1) if len(images(world.pods(active=False))) > 1 else None
        )
        patch = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "nginx:2"}]}}}}
        await world.client.patch(DEPLOYMENTS, "web", patch, "default", type="strategic")
        await eventually(lambda: images(world.pods()) == {"nginx:2"} and len(world.pods()) == 3)
        assert not mixed


async def test_a_rollout_that_fails_is_late_and_keeps_what_works() -> None:
    async with World() as world:
        given = workload("web", replicas=4, progressDeadlineSeconds=1)
        await world.client.create(DEPLOYMENTS, given)
        await eventually(lambda: status(world.get(DEPLOYMENTS, "web")).get("availableReplicas") == 4)
        patch = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "nginx:404"}]}}}}
        await world.client.patch(DEPLOYMENTS, "web", patch, "default", type="strategic")

        def late() -> bool:
            conditions = status(world.get(DEPLOYMENTS, "web")).get("conditions", ())
            return any(condition.get("reason") == "ProgressDeadlineExceeded" for condition in conditions)

        await eventually(late)
        assert status(world.get(DEPLOYMENTS, "web"))["availableReplicas"] >= 3
