"""Checks of a cluster before it is upgraded."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import JOBS, NODES
from pybernetes.tools.image import names as images
from pybernetes.tools.kubeadm.checks.check import Findings, problem
from pybernetes.tools.kubeadm.init_data import say
from pybernetes.tools.kubeadm.locations import CONTROL_PLANE_LABEL, MANIFESTS, NAMESPACE

log = logging.getLogger(__name__)
_JOB_SECONDS = 60
_PREFIX = "upgrade-health-check"
_COMPONENTS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")


def job(name: str, image: str) -> Object:
    """Return a Job that shows that the cluster still runs what it is given."""
    container = {"name": _PREFIX, "image": image, "command": ["kube-apiserver", "--version"]}
    user = {"runAsUser": 999, "runAsGroup": 999, "runAsNonRoot": True}
    return {
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "backoffLimit": 0,
            "ttlSecondsAfterFinished": _JOB_SECONDS + 5,
            "activeDeadlineSeconds": _JOB_SECONDS + 5,
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "securityContext": user,
                    # Its image is there already: control planes run it.
                    "nodeSelector": {CONTROL_PLANE_LABEL: ""},
                    "tolerations": [{"key": CONTROL_PLANE_LABEL, "effect": "NoSchedule"}],
                    "containers": [container],
                }
            },
        },
    }


class CreateJob:
    """Whether the cluster takes work and does it."""

    name = "CreateJob"

    def __init__(self, client: Client, cluster: Object, *, dry_run: bool = False) -> None:
        self._client, self._dry_run = client, dry_run
        self._image = images.component(
            "kube-apiserver", cluster["kubernetesVersion"], cluster["imageRepository"]
        )

    async def check(self) -> Findings:
        """Complain if a Job does not get done."""
        name = f"{_PREFIX}-{time.time_ns() // 1_000_000}"
        if self._dry_run:
            say(f'[dryrun] Would create the Job "{name}" in the namespace "{NAMESPACE}" and wait for it')
            return Findings()
        what = "could not check if there is at least one Node that can schedule a test Pod"
        try:
            nodes = await self._client.list(NODES, fields="spec.unschedulable=false")
            if not nodes.items:
                log.warning('The preflight check "CreateJob" was skipped: no node can be scheduled to')
                return Findings()
            what = f'could not create Job "{name}" in the namespace "{NAMESPACE}"'
            await self._client.create(JOBS, job(name, self._image))
        except (StatusError, OSError) as error:
            return problem(f"{what}: {error}")
        last = await self._wait(name)
        if not last:
            return Findings()
        return problem(
            f'Job "{name}" in the namespace "{NAMESPACE}" did not complete in {_JOB_SECONDS}s: {last}'
        )

    async def _wait(self, name: str) -> str:
        """Wait until the Job is done; return why it is not."""
        loop = asyncio.get_running_loop()
        deadline, last = loop.time() + _JOB_SECONDS, "no condition of type Complete"
        while loop.time() < deadline:
            try:
                job = await self._client.get(JOBS, name, NAMESPACE)
                conditions = (job.get("status") or {}).get("conditions") or ()
                if any(condition.get("type") == "Complete" for condition in conditions):
                    return ""
                last = "no condition of type Complete"
            except (StatusError, OSError) as error:
                last = str(error)
            await asyncio.sleep(0.5)
        return last


class ControlPlaneNodesReady:
    """Whether all control planes are ready."""

    name = "ControlPlaneNodesReady"

    def __init__(self, client: Client) -> None:
        self._client = client

    async def check(self) -> Findings:
        """Complain of those that are not."""
        try:
            page = await self._client.list(NODES, labels=CONTROL_PLANE_LABEL)
        except (StatusError, OSError) as error:
            return problem(f'could not list nodes labeled with "{CONTROL_PLANE_LABEL}": {error}')
        waiting = not_ready(page.items)
        if not waiting:
            return Findings()
        return problem(f"there are NotReady control-planes in the cluster: [{' '.join(waiting)}]")


def not_ready(nodes: list[Object]) -> list[str]:
    """Return the names of nodes that say that they are not ready."""
    return [
        node["metadata"]["name"]
        for node in nodes
        for condition in (node.get("status") or {}).get("conditions") or ()
        if condition.get("type") == "Ready" and condition.get("status") != "True"
    ]


class StaticPodManifest:
    """Whether the manifests of this machine's control plane are there."""

    name = "StaticPodManifest"

    def __init__(self, folder: Path = MANIFESTS, *, dry_run: bool = False) -> None:
        self._folder, self._dry_run = folder, dry_run

    async def check(self) -> Findings:
        """Complain of those that are missing."""
        paths = [self._folder / f"{component}.yaml" for component in _COMPONENTS]
        if self._dry_run:
            for path in paths:
                say(f"[dryrun] would check if {path} exists")
            return Findings()
        missing = [str(path) for path in paths if not path.exists()]
        return problem(f"manifest files not found: [{' '.join(missing)}]") if missing else Findings()
