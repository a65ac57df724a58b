"""Workload controllers at work, against a real API server and hollow nodes."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.client import NotFound
from pybernetes.client.refs import (
    CONTROLLER_REVISIONS,
    CRON_JOBS,
    DAEMON_SETS,
    DEPLOYMENTS,
    EVENTS,
    JOBS,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
)
from pybernetes.runtime.owned_objects import controller_of
from tests.control_plane.controllers.world import World, job, workload

FINALIZER = "batch.kubernetes.io/job-tracking"


def status(obj: Object) -> Object:
    return obj.get("status", {})


def images(pods: list[Object]) -> set[str]:
    return {pod["spec"]["containers"][0]["image"] for pod in pods}


def has(obj: Object, type_: str, reason: str = "") -> bool:
    return any(
        condition["type"] == type_
        and condition["status"] == "True"
        and reason in ("", condition.get("reason"))
        for condition in status(obj).get("conditions", ())
    )


async def test_a_deployment_rolls_out_scales_and_rolls_back() -> None:
    async with World() as world:
        await world.client.create(DEPLOYMENTS, workload("web", replicas=4))
        await world.until(lambda: status(world.get(DEPLOYMENTS, "web")).get("availableReplicas") == 4)
        await world.until(lambda: has(world.get(DEPLOYMENTS, "web"), "Progressing", "NewReplicaSetAvailable"))
        patch = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "nginx:2"}]}}}}
        await world.client.patch(DEPLOYMENTS, "web", patch, "default", type="strategic")
        await world.until(lambda: len(world.pods()) == 4 and images(world.pods()) == {"nginx:2"})
        await world.client.patch(DEPLOYMENTS, "web", {"spec": {"replicas": 2}}, "default")
        await world.until(lambda: status(world.get(DEPLOYMENTS, "web")).get("replicas") == 2)

        def sets() -> dict[str, Object]:
            revision = "deployment.kubernetes.io/revision"
            return {
                replica_set["metadata"]["annotations"][revision]: replica_set
                for replica_set in world.all(REPLICA_SETS)
            }

        await world.until(lambda: {revision: replica_set["spec"]["replicas"] for revision, replica_set in sets().items()} == {"1": 0, "2": 2})  # fmt: skip
        old = sets()["1"]["spec"]["template"]
        old = {**old, "metadata": {"labels": {"app": "web"}}}
        await world.client.patch(DEPLOYMENTS, "web", {"spec": {"template": old}}, "default")
        await world.until(lambda: len(world.pods()) == 2 and images(world.pods()) == {"nginx:1"})
        await world.until(lambda: has(world.get(DEPLOYMENTS, "web"), "Progressing", "NewReplicaSetAvailable"))
        await world.until(lambda: world.get(DEPLOYMENTS, "web")["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "3")  # fmt: skip
        assert len(world.all(REPLICA_SETS)) == 2


async def test_a_deployment_that_recreates_never_mixes() -> None:
    async with World() as world:
        await world.client.create(DEPLOYMENTS, workload("web", replicas=3, strategy={"type": "Recreate"}))
        await world.until(lambda: status(world.get(DEPLOYMENTS, "web")).get("availableReplicas") == 3)
        mixed = []
        world.view.informers.get(PODS).add_handler(
            lambda *_: mixed.append(1) if len(images(world.pods(active=False))) > 1 else None
        )
        patch = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "nginx:2"}]}}}}
        await world.client.patch(DEPLOYMENTS, "web", patch, "default", type="strategic")
        await world.until(lambda: images(world.pods()) == {"nginx:2"} and len(world.pods()) == 3)
        assert not mixed


async def test_a_rollout_that_fails_is_late_and_keeps_what_works() -> None:
    async with World() as world:
        given = workload("web", replicas=4, progressDeadlineSeconds=1)
        await world.client.create(DEPLOYMENTS, given)
        await world.until(lambda: status(world.get(DEPLOYMENTS, "web")).get("availableReplicas") == 4)
        patch = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "nginx:404"}]}}}}
        await world.client.patch(DEPLOYMENTS, "web", patch, "default", type="strategic")

        def late() -> bool:
            conditions = status(world.get(DEPLOYMENTS, "web")).get("conditions", ())
            return any(condition.get("reason") == "ProgressDeadlineExceeded" for condition in conditions)

        await world.until(late)
        assert status(world.get(DEPLOYMENTS, "web"))["availableReplicas"] >= 3


async def test_pods_are_adopted_and_let_go() -> None:
    async with World(("replicaset", "replicationcontroller")) as world:
        orphan = {"metadata": {"name": "orphan", "namespace": "default", "labels": {"app": "rs"}}, "spec": workload("rs")["spec"]["template"]["spec"]}  # fmt: skip
        await world.client.create(PODS, orphan)
        await world.client.create(REPLICA_SETS, workload("rs", replicas=2))
        await world.until(lambda: len(world.pods("rs-")) == 1 and controller_of(world.get(PODS, "orphan")))
        await world.client.patch(PODS, "orphan", {"metadata": {"labels": {"app": "free"}}}, "default")
        await world.until(
            lambda: len(world.pods("rs-")) == 2 and not controller_of(world.get(PODS, "orphan"))
        )
        # A controller of the older kind, with a plain selector, takes the pod in.
        older = workload("rc", replicas=1)
        older["spec"] |= {"selector": {"app": "free"}}
        older["spec"]["template"]["metadata"]["labels"] = {"app": "free"}
        await world.client.create(REPLICATION_CONTROLLERS, older)
        await world.until(lambda: (controller_of(world.get(PODS, "orphan")) or {}).get("kind") == "ReplicationController")  # fmt: skip
        assert len(world.pods("rc-")) == 0


async def test_failures_to_make_pods_are_shown() -> None:
    async with World(("replicaset",)) as world:
        given = workload("rs", replicas=3)
        given["spec"]["template"]["spec"]["priorityClassName"] = "nobody-knows"
        await world.client.create(REPLICA_SETS, given)
        await world.until(lambda: has(world.get(REPLICA_SETS, "rs"), "ReplicaFailure", "FailedCreate"))

        async def told() -> bool:
            events = (await world.client.list(EVENTS, "default")).items
            return any(event["reason"] == "FailedCreate" for event in events)

        await world.until(told)


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
        await world.until(lambda: status(world.get(STATEFUL_SETS, "db")).get("availableReplicas") == 3)
        assert seen == [("+", "db-0"), ("+", "db-1"), ("+", "db-2")]
        claims = (await world.client.list(PERSISTENT_VOLUME_CLAIMS, "default")).items
        assert sorted(obj["metadata"]["name"] for obj in claims) == ["data-db-0", "data-db-1", "data-db-2"]
        assert {controller_of(obj)["kind"] for obj in claims} == {"StatefulSet"}  # type: ignore[index]
        seen.clear()
        patch = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "nginx:2"}]}}}}
        await world.client.patch(STATEFUL_SETS, "db", patch, "default", type="strategic")
        await world.until(lambda: images(world.pods()) == {"nginx:2"} and len(world.pods()) == 3)
        assert seen == [(sign, f"db-{number}") for number in (2, 1, 0) for sign in "-+"]
        done = await world.until(
            lambda: (s := status(world.get(STATEFUL_SETS, "db"))).get("currentRevision") == s.get("updateRevision") and s
        )  # fmt: skip
        assert done["updatedReplicas"] == 3
        assert len((await world.client.list(CONTROLLER_REVISIONS, "default")).items) == 2
        await world.client.patch(STATEFUL_SETS, "db", {"spec": {"replicas": 1}}, "default")
        await world.until(lambda: status(world.get(STATEFUL_SETS, "db")).get("replicas") == 1)
        left = {
            obj["metadata"]["name"]: controller_of(obj)["kind"]  # type: ignore[index]
            for obj in (await world.client.list(PERSISTENT_VOLUME_CLAIMS, "default")).items
        }
        assert left == {"data-db-0": "StatefulSet", "data-db-1": "Pod", "data-db-2": "Pod"}


async def test_daemons_follow_nodes() -> None:
    async with World() as world:
        await world.client.create(DAEMON_SETS, workload("agent"))
        await world.until(lambda: status(world.get(DAEMON_SETS, "agent")).get("numberAvailable") == 2)
        assert sorted(pod["spec"]["nodeName"] for pod in world.pods()) == ["n0", "n1"]
        taint = {"spec": {"taints": [{"key": "x", "effect": "NoExecute"}]}}
        await world.client.patch(NODES, "n1", taint)
        await world.until(lambda: status(world.get(DAEMON_SETS, "agent")).get("desiredNumberScheduled") == 1)
        await world.until(lambda: len(world.pods()) == 1)
        await world.client.patch(NODES, "n1", {"spec": {"taints": None}})
        await world.until(lambda: status(world.get(DAEMON_SETS, "agent")).get("numberAvailable") == 2)
        patch = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "nginx:2"}]}}}}
        await world.client.patch(DAEMON_SETS, "agent", patch, "default", type="strategic")
        await world.until(lambda: images(world.pods()) == {"nginx:2"} and len(world.pods()) == 2)
        # A pod that fails is replaced. It runs before, so that nobody writes its status any more.
        await world.until(lambda: status(world.get(DAEMON_SETS, "agent")).get("updatedNumberScheduled") == 2)
        await world.until(lambda: status(world.get(DAEMON_SETS, "agent")).get("numberAvailable") == 2)
        failed = world.pods()[0]["metadata"]["name"]
        await world.client.patch(
            PODS, failed, {"status": {"phase": "Failed"}}, "default", subresource="status"
        )
        await world.until(lambda: len(world.pods()) == 2 and failed not in [pod["metadata"]["name"] for pod in world.pods()])  # fmt: skip


@pytest.mark.parametrize(
    ("given", "type_", "expected"),
    [
        (job("j"), "Complete", {"succeeded": 1}),
        (job("j", completions=5, parallelism=2), "Complete", {"succeeded": 5}),
        (job("j", completions=4, parallelism=4, completionMode="Indexed"), "Complete",
         {"succeeded": 4, "completedIndexes": "0-3"}),
        (job("j", ["false"], backoffLimit=0), "Failed", {"failed": 1}),
        (job("j", ["sleep", "1000"], activeDeadlineSeconds=1), "Failed", {"failed": 1}),
        (job("j", ["false"], completions=3, parallelism=3, completionMode="Indexed", backoffLimitPerIndex=0,
             maxFailedIndexes=1), "Failed", {}),
        (job("j", ["sh", "-c", "exit 42"], completions=3, parallelism=1,
             podFailurePolicy={"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]}),
         "Failed", {"failed": 1}),
    ],
)  # fmt: skip
async def test_jobs_come_to_their_end(given: Object, type_: str, expected: Object) -> None:
    async with World(("job",)) as world:
        await world.client.create(JOBS, given)
        done = await world.until(lambda: has(j := world.get(JOBS, "j"), type_) and j)
        final = status(done)
        assert {name: final.get(name) for name in expected} == expected
        assert final.get("active", 0) == 0 and not final["uncountedTerminatedPods"]
        # The last finalizers go after the last word.
        await world.until(lambda: not any(FINALIZER in pod["metadata"].get("finalizers", ()) for pod in world.pods()))  # fmt: skip


async def test_a_job_is_suspended_and_resumed() -> None:
    async with World(("job",)) as world:
        await world.client.create(JOBS, job("j", ["sleep", "1000"], completions=2, parallelism=2))
        await world.until(lambda: status(world.get(JOBS, "j")).get("ready") == 2)
        await world.client.patch(JOBS, "j", {"spec": {"suspend": True}}, "default")
        await world.until(lambda: has(world.get(JOBS, "j"), "Suspended") and not world.pods(active=False))
        await world.client.patch(JOBS, "j", {"spec": {"suspend": False}}, "default")
        await world.until(lambda: status(world.get(JOBS, "j")).get("ready") == 2)


async def test_pods_of_a_job_that_is_gone_are_let_go() -> None:
    async with World(("job",)) as world:
        await world.client.create(JOBS, job("j", ["sleep", "1000"]))
        await world.until(lambda: status(world.get(JOBS, "j")).get("ready") == 1)
        await world.client.delete(JOBS, "j", "default", propagation="Background")
        await world.until(lambda: FINALIZER not in world.pods()[0]["metadata"].get("finalizers", ()))


async def test_a_job_that_somebody_else_manages_is_left_alone() -> None:
    async with World(("job",)) as world:
        await world.client.create(JOBS, job("theirs", managedBy="example.com/other"))
        await world.client.create(JOBS, job("ours"))
        await world.until(lambda: has(world.get(JOBS, "ours"), "Complete"))
        assert world.pods("theirs") == [] and not status(world.get(JOBS, "theirs")).get("active")


async def test_cron_jobs_make_jobs_and_forget_them() -> None:
    async with World(("cronjob", "job", "ttl-after-finished")) as world:
        given = {
            "metadata": {"name": "tick", "namespace": "default"},
            "spec": {
                "schedule": "@every 1s",
                "successfulJobsHistoryLimit": 1,
                "jobTemplate": {"spec": job("x")["spec"]},
            },
        }
        await world.client.create(CRON_JOBS, given)
        made: set[str] = set()
        world.view.informers.get(JOBS).add_handler(lambda _, new: made.add(new["metadata"]["name"]) if new else None)  # fmt: skip
        await world.until(lambda: made)
        first = next(iter(made))
        assert first.startswith("tick-")

        async def seen() -> Any:
            return status(await world.client.get(CRON_JOBS, "tick", "default")).get("lastSuccessfulTime")

        await world.until(seen)


async def test_finished_jobs_are_deleted_in_time() -> None:
    async with World(("job", "ttl-after-finished")) as world:
        await world.client.create(JOBS, job("gone", ttlSecondsAfterFinished=0))
        await world.client.create(JOBS, job("kept"))

        async def is_gone() -> bool:
            try:
                return "deletionTimestamp" in (await world.client.get(JOBS, "gone", "default"))["metadata"]
            except NotFound:
                return True

        await world.until(is_gone)
        await world.until(lambda: has(world.get(JOBS, "kept"), "Complete"))
        assert "deletionTimestamp" not in world.get(JOBS, "kept")["metadata"]
