"""Real kubectl with our controllers: it prints what it prints with upstream's, which these texts were taken from."""

from __future__ import annotations

import asyncio
import os
import re

import pytest

from pybernetes.client.refs import CRON_JOBS, DEPLOYMENTS, JOBS, REPLICA_SETS
from tests.control_plane.controllers.world import WORKLOADS as WORKLOAD_CONTROLLERS
from tests.control_plane.controllers.world import World
from tests.support import eventually, require_program

WORKLOADS = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: "nginx:1"}]}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: c, image: "nginx:1"}]}}
"""


class Kubectl:
    """Runs kubectl against a world."""

    def __init__(self, world: World) -> None:
        self._program = require_program("kubectl")
        config = world.cluster.kubeconfig()
        self._environment = {**os.environ, "KUBECONFIG": str(config), "HOME": str(world.cluster.directory)}

    async def __call__(self, text: str, given: str = "") -> str:
        """Return what it prints, with ages, hashes and gaps made alike."""
        process = await asyncio.create_subprocess_exec(
            self._program, *text.split(" "), env=self._environment, stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        printed, _ = await asyncio.wait_for(process.communicate(given.encode()), 90)
        output = printed.decode()
        output = re.sub(r"\b(web|db|agent)-[0-9a-z]{6,10}\b", r"\1-HASH", output)
        output = re.sub(r"pod-template-hash=\w+", "pod-template-hash=HASH", output)
        output = re.sub(r"\b\d+m?\d*s\b", "AGE", output)
        return "\n".join(" ".join(line.split()) for line in output.strip().splitlines())


@pytest.mark.e2e
async def test_rollouts() -> None:
    async with World() as world:
        kubectl = Kubectl(world)
        assert (
            await kubectl("create deployment web --image=nginx:1 --replicas=3")
            == "deployment.apps/web created"
        )
        done = 'deployment "web" successfully rolled out'
        assert (await kubectl("rollout status deployment/web --timeout=60s")).endswith(done)
        assert await kubectl("get deployment,rs") == (
            "NAME READY UP-TO-DATE AVAILABLE AGE\ndeployment.apps/web 3/3 3 3 AGE\n\n"
            "NAME DESIRED CURRENT READY AGE\nreplicaset.apps/web-HASH 3 3 3 AGE"
        )
        assert await kubectl("set image deployment/web nginx=nginx:2") == "deployment.apps/web image updated"
        assert (await kubectl("rollout status deployment/web --timeout=60s")).endswith(done)
        history = "deployment.apps/web\nREVISION CHANGE-CAUSE\n{} <none>\n{} <none>"
        assert await kubectl("rollout history deployment/web") == history.format(1, 2)
        assert (await kubectl("rollout history deployment/web --revision=1")).startswith(
            "deployment.apps/web with revision #1\nPod Template:\nLabels: app=web\npod-template-hash=HASH\n"
            "Containers:\nnginx:\nImage: nginx:1\n"
        )
        assert await kubectl("rollout undo deployment/web") == "deployment.apps/web rolled back"
        assert (await kubectl("rollout status deployment/web --timeout=60s")).endswith(done)
        assert await kubectl("rollout history deployment/web") == history.format(2, 3)
        assert await kubectl("rollout pause deployment/web") == "deployment.apps/web paused"
        await kubectl("set image deployment/web nginx=nginx:3")
        await eventually(lambda: _is_observed(world))
        waiting = await kubectl("rollout status deployment/web --timeout=3s")
        assert waiting == (
            'Waiting for deployment "web" rollout to finish: 0 out of 3 new replicas have been updated...\n'
            "error: timed out waiting for the condition"
        )
        assert await kubectl("rollout resume deployment/web") == "deployment.apps/web resumed"
        assert (await kubectl("rollout status deployment/web --timeout=60s")).endswith(done)
        assert await kubectl("rollout restart deployment/web") == "deployment.apps/web restarted"
        assert (await kubectl("rollout status deployment/web --timeout=60s")).endswith(done)
        assert await kubectl("scale deployment/web --replicas=5") == "deployment.apps/web scaled"
        assert (await kubectl("rollout status deployment/web --timeout=60s")).endswith(done)
        await eventually(lambda: world.get(DEPLOYMENTS, "web")["status"].get("terminatingReplicas") == 0)
        described = await kubectl("describe deployment web")
        assert "Replicas: 5 desired | 5 updated | 5 total | 5 available | 0 unavailable\n" in described
        assert "Available True MinimumReplicasAvailable\n" in described
        assert "Progressing True NewReplicaSetAvailable\n" in described
        assert "NewReplicaSet: web-HASH (5/5 replicas created)\n" in described
        assert "deployment-controller Scaled up replica set web-HASH from 0 to 3" in described


@pytest.mark.e2e
async def test_sets() -> None:
    async with World() as world:
        kubectl = Kubectl(world)
        await kubectl("apply -f -", WORKLOADS)
        assert (await kubectl("rollout status sts/db --timeout=60s")).endswith(
            "partitioned roll out complete: 2 new pods have been updated..."
        )
        daemons = 'daemon set "agent" successfully rolled out'
        assert (await kubectl("rollout status ds/agent --timeout=60s")).endswith(daemons)
        for kind, name, full in (("sts", "db", "statefulset"), ("ds", "agent", "daemonset")):
            await kubectl(f"set image {kind}/{name} c=nginx:2")
            await kubectl(f"rollout status {kind}/{name} --timeout=60s")
            history = f"{full}.apps/{name}\nREVISION CHANGE-CAUSE\n1 <none>\n2 <none>"
            assert await kubectl(f"rollout history {kind}/{name}") == history
            assert await kubectl(f"rollout undo {kind}/{name}") == f"{full}.apps/{name} rolled back"
            await kubectl(f"rollout status {kind}/{name} --timeout=60s")
            assert await kubectl(f"rollout history {kind}/{name}") == history.replace(
                "1 <none>\n2", "2 <none>\n3"
            )
        assert await kubectl("get sts,ds") == (
            "NAME READY AGE\nstatefulset.apps/db 2/2 AGE\n\n"
            "NAME DESIRED CURRENT READY UP-TO-DATE AVAILABLE NODE SELECTOR AGE\n"
            "daemonset.apps/agent 2 2 2 2 2 <none> AGE"
        )


@pytest.mark.e2e
async def test_jobs() -> None:
    async with World() as world:
        kubectl = Kubectl(world)
        assert await kubectl("create job hello --image=busybox -- true") == "job.batch/hello created"
        assert (
            await kubectl("wait --for=condition=complete job/hello --timeout=60s")
            == "job.batch/hello condition met"
        )
        assert (
            await kubectl("get job hello")
            == "NAME STATUS COMPLETIONS DURATION AGE\nhello Complete 1/1 AGE AGE"
        )
        assert "Pods Statuses: 0 Active (0 Ready) / 1 Succeeded / 0 Failed\n" in await kubectl(
            "describe job hello"
        )

        async def told() -> bool:
            return (await kubectl("describe job hello")).endswith("job-controller Job completed")

        await eventually(told)
        await kubectl("create cronjob tick --image=busybox --schedule=@yearly -- true")
        assert await kubectl("get cronjob tick") == (
            "NAME SCHEDULE TIMEZONE SUSPEND ACTIVE LAST SCHEDULE AGE\ntick @yearly <none> False 0 <none> AGE"
        )
        assert await kubectl("create job now --from=cronjob/tick") == "job.batch/now created"
        assert (
            await kubectl("wait --for=condition=complete job/now --timeout=60s")
            == "job.batch/now condition met"
        )
        await kubectl("delete cronjob tick")
        assert (await world.client.list(CRON_JOBS)).items == []
        assert world.get(JOBS, "now")["metadata"]["ownerReferences"][0]["kind"] == "CronJob"


EVERYTHING = (*WORKLOAD_CONTROLLERS, "endpointslice", "garbagecollector", "disruption")


@pytest.mark.e2e
async def test_exposing_and_deleting() -> None:
    async with World(EVERYTHING) as world:
        kubectl = Kubectl(world)
        await kubectl("create deployment web --image=nginx:1 --replicas=2")
        await kubectl("rollout status deployment/web --timeout=60s")
        exposed = await kubectl("expose deployment web --port=80 --target-port=8080")
        assert exposed == "service/web exposed"
        addresses = [pod["status"]["podIP"] for pod in world.pods("web")]

        async def endpoints() -> bool:
            seen = await kubectl(
                "get endpointslices -l kubernetes.io/service-name=web -o jsonpath={..addresses}"
            )
            return all(address in seen for address in addresses)

        await eventually(endpoints, 60)
        # What is left behind belongs to nobody; what is not goes, at once or before its owner.
        assert await kubectl("delete deployment web --cascade=orphan") == 'deployment.apps "web" deleted'
        await eventually(lambda: not world.all(REPLICA_SETS)[0]["metadata"].get("ownerReferences"))
        assert len(world.pods("web")) == 2
        name = world.all(REPLICA_SETS)[0]["metadata"]["name"]
        await kubectl(f"delete rs {name} --cascade=foreground")
        await eventually(lambda: not world.all(REPLICA_SETS) and not world.pods("web", active=False))
        await kubectl("create deployment web --image=nginx:1 --replicas=2")
        await kubectl("rollout status deployment/web --timeout=60s")
        await kubectl("delete deployment web --cascade=background")
        await eventually(lambda: not world.all(REPLICA_SETS) and not world.pods("web", active=False))


@pytest.mark.e2e
async def test_draining() -> None:
    async with World(EVERYTHING) as world:
        kubectl = Kubectl(world)
        await kubectl("create deployment web --image=nginx:1 --replicas=4")
        await kubectl("rollout status deployment/web --timeout=60s")
        await kubectl('run alone --image=nginx:1 --overrides={"spec":{"nodeName":"n0"}}')
        await kubectl("wait --for=condition=Ready pod/alone --timeout=60s")
        refused = await kubectl("drain n0")
        assert refused.startswith('node/n0 cordoned\nerror: unable to drain node "n0" due to error')
        assert (
            "cannot delete Pods that declare no controller (use --force to override): default/alone"
            in refused
        )
        assert await kubectl("get node n0 -o jsonpath={.spec.unschedulable}") == "true"
        # A budget that allows nothing keeps a pod where it is until it does.
        await kubectl("create poddisruptionbudget web --selector=app=web --min-available=4")
        await eventually(lambda: _is(kubectl, "get pdb web -o jsonpath={.status.expectedPods}", "4"), 60)
        held = await kubectl("drain n0 --force --timeout=3s")
        assert "Cannot evict pod as it would violate the pod's disruption budget." in held
        await kubectl("delete pdb web")
        leaving = {pod["metadata"]["uid"] for pod in world.pods() if pod["spec"].get("nodeName") == "n0"}
        drained = await kubectl("drain n0 --force --timeout=60s")
        assert drained.endswith("node/n0 drained")
        assert leaving and leaving.isdisjoint(pod["metadata"]["uid"] for pod in world.pods())
        assert await kubectl("uncordon n0") == "node/n0 uncordoned"


def _is_observed(world: World) -> bool:
    web = world.get(DEPLOYMENTS, "web")
    return web["status"].get("observedGeneration") == web["metadata"]["generation"]


async def _is(kubectl: Kubectl, text: str, wanted: str) -> bool:
    return await kubectl(text) == wanted
