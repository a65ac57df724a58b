"""Controllers that are killed at any point and started again come to the same end, with no pod twice and none lost."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pybernetes.client.refs import DAEMON_SETS, DEPLOYMENTS, JOBS, PODS, REPLICA_SETS, STATEFUL_SETS, Ref
from tests.control_plane.controllers.world import World, job, workload
from tests.support import eventually, run

READS = ("GET",)
REPLICAS, SURGE, COMPLETIONS = 4, 1, 5


class Mortal:
    """A transport that stops for good at a certain write: before it is made, or after and before its answer is heard."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self.left: int | None = None  # writes until the end
        self.after = False
        self.dead = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    async def send(self, method: str, *arguments: Any, **more: Any) -> Any:
        if method in READS or self.left is None:
            return await self._transport.send(method, *arguments, **more)
        self.left -= 1
        if self.left == 0 and self.after:
            await self._transport.send(method, *arguments, **more)
        if self.left <= 0:
            self.dead.set()
            await asyncio.Event().wait()
        return await self._transport.send(method, *arguments, **more)


class Witness:
    """Looks at every pod that ever was."""

    def __init__(self, world: World) -> None:
        self.made: dict[str, set[str]] = {}
        self.most: dict[str, int] = {}
        self._world = world
        world.view.informers.get(PODS).add_handler(self._look)

    def _look(self, old: Any, new: Any) -> None:
        pod = new or old
        app = pod["metadata"]["labels"].get("app") or "job"
        self.made.setdefault(app, set()).add(pod["metadata"]["uid"])
        alive = [
            pod for pod in self._world.all(PODS)
            if (pod["metadata"]["labels"].get("app") or "job") == app and "deletionTimestamp" not in pod["metadata"]
            and pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")
        ]  # fmt: skip
        self.most[app] = max(self.most.get(app, 0), len(alive))


def at_rest(world: World) -> bool:
    """Return whether everything is as it was asked for."""

    def status(kind: Any, name: str) -> dict[str, Any]:
        return world.get(kind, name).get("status", {})

    web, db, batch = status(DEPLOYMENTS, "web"), status(STATEFUL_SETS, "db"), status(JOBS, "batch")
    return (
        web.get("updatedReplicas") == web.get("replicas") == web.get("availableReplicas") == REPLICAS
        and web.get("observedGeneration") == 2
        and db.get("updatedReplicas") == db.get("availableReplicas") == 2
        and db.get("currentRevision") == db.get("updateRevision")
        and db.get("observedGeneration") == 2
        and status(DAEMON_SETS, "agent").get("numberAvailable") == 2
        and any(condition["type"] == "Complete" for condition in batch.get("conditions", ()))
        and sum(replica_set["spec"]["replicas"] for replica_set in world.all(REPLICA_SETS)) == REPLICAS
    )


async def story(kills: list[tuple[int, bool]]) -> None:
    mortals: list[Mortal] = []
    plan = iter(kills)

    def wrap(transport: Any) -> Mortal:
        mortal = Mortal(transport)
        following = next(plan, None)
        if following is not None:
            mortal.left, mortal.after = following
        mortals.append(mortal)
        return mortal

    async with World(("deployment", "replicaset", "statefulset", "daemonset", "job"), wrap=wrap) as world:
        witness = Witness(world)
        strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": SURGE, "maxUnavailable": 1}}
        await world.client.create(DEPLOYMENTS, workload("web", replicas=REPLICAS, strategy=strategy))
        await world.client.create(STATEFUL_SETS, workload("db", replicas=2, serviceName="db"))
        await world.client.create(DAEMON_SETS, workload("agent"))
        await world.client.create(
            JOBS, job("batch", completions=COMPLETIONS, parallelism=2, completionMode="Indexed")
        )
        changed = asyncio.create_task(change(world))
        while not at_rest(world):
            death = asyncio.create_task(mortals[-1].dead.wait())
            rest = asyncio.create_task(eventually(lambda: at_rest(world), 60))
            await asyncio.wait([death, rest], return_when=asyncio.FIRST_COMPLETED)
            for task in (death, rest):
                task.cancel()
            results = await asyncio.gather(death, rest, return_exceptions=True)
            if isinstance(results[1], AssertionError):
                raise results[1]
            if mortals[-1].dead.is_set():
                await world.kill()
                await world.start()
        await changed
        await eventually(lambda: at_rest(world))
        assert len(world.pods("web-")) == REPLICAS
        assert len(world.pods("db-")) == 2
        assert sorted(pod["spec"]["nodeName"] for pod in world.pods("agent-")) == ["n0", "n1"]
        status = world.get(JOBS, "batch")["status"]
        assert (status["succeeded"], status.get("failed", 0)) == (COMPLETIONS, 0)
        assert status["completedIndexes"] == f"0-{COMPLETIONS - 1}"
        # Nobody was made in vain: none twice, and never more than allowed.
        assert len(witness.made["job"]) == COMPLETIONS
        assert len(witness.made["agent"]) == 2
        assert len(witness.made["web"]) == 2 * REPLICAS
        assert len(witness.made["db"]) == 4
        assert witness.most["web"] <= REPLICAS + SURGE
        assert witness.most["job"] <= 2


async def change(world: World) -> None:
    """Roll a new template out once the first is there."""
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "nginx:2"}]}}}}
    for kind, name, ready in ((DEPLOYMENTS, "web", REPLICAS), (STATEFUL_SETS, "db", 2)):

        def is_available(kind: Ref = kind, name: str = name, ready: int = ready) -> bool:
            return world.get(kind, name).get("status", {}).get("availableReplicas") == ready

        await eventually(is_available, 60)
        await world.client.patch(kind, name, patch, "default", type="strategic")


def test_without_a_kill() -> None:
    run(story([]), timeout=120)


@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(kills=st.lists(st.tuples(st.integers(1, 60), st.booleans()), min_size=1, max_size=6))
def test_killed_at_any_point(kills: list[tuple[int, bool]]) -> None:
    run(story(kills), timeout=180)
