"""kubefed's user guide, step by step, with our programs and the real kubectl: a host and two members with hollow nodes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from pybernetes.client import kubeconfig
from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import CONFIG_MAPS, DEPLOYMENTS, Ref
from tests.support import eventually, require_program
from tests.tools.local.user import User

pytestmark = pytest.mark.slow
HOST = f"guide-{os.getpid()}"
ONE, TWO = f"{HOST}-1", f"{HOST}-2"
PREFERENCE = """
apiVersion: scheduling.kubefed.io/v1alpha1
kind: ReplicaSchedulingPreference
metadata: {name: web, namespace: demo}
spec:
  targetKind: FederatedDeployment
  totalReplicas: 9
  rebalance: true
"""


class Guide:
    """What the guide does, and what it looks at."""

    def __init__(self, home: Path) -> None:
        self.user, self._home = User(home), home
        self._clients: dict[str, Client] = {}

    def kubectl(self, *arguments: str, cluster: str = HOST) -> str:
        return self.user.kubectl("--context", cluster, *arguments)

    def kubefedctl(self, *arguments: str) -> str:
        return self.user.pyb("kubefedctl", *arguments, "--host-cluster-context", HOST)

    def apply(self, text: str) -> None:
        path = self._home / "object.yaml"
        path.write_text(text)
        self.kubectl("apply", "-f", str(path))

    def patch(self, kind: str, name: str, patch: Any) -> None:
        self.kubectl("-n", "demo", "patch", kind, name, "--type=merge", "-p", json.dumps(patch))

    async def everywhere(self, expected: dict[str, Any], kind: Ref, name: str, *path: str) -> None:
        """Wait until a field has a value in each cluster; None where there is no such object or field."""
        values: dict[str, Any] = {}

        async def there() -> bool:
            for cluster in expected:
                values[cluster] = await self._field(cluster, kind, name, path)
            return values == expected

        try:
            await eventually(there, 120)
        except AssertionError:
            raise AssertionError(f"{kind.kind} {name} {path}: {values}, not {expected}") from None

    async def _field(self, cluster: str, kind: Ref, name: str, path: tuple[str, ...]) -> Any:
        if cluster not in self._clients:
            self._clients[cluster] = kubeconfig.load(self._home / "kubeconfig", context=cluster).client()
        try:
            value: Any = await self._clients[cluster].get(kind, name, "demo")
        except NotFound:
            return None
        for step in path:
            value = (value or {}).get(step)
        return value

    async def close(self) -> None:
        for client in self._clients.values():
            await client.close()


async def test_the_guide(tmp_path: Path) -> None:
    require_program("kubectl")
    guide = Guide(tmp_path)
    try:
        await follow(guide)
    finally:
        await guide.close()
        guide.user.pyb("federation", "delete", HOST)


async def follow(guide: Guide) -> None:
    said = guide.user.pyb("federation", "up", HOST, "--clusters", "2", "--hollow")
    assert "2 clusters have joined, and are ready" in said
    clusters = guide.kubectl("-n", "kube-federation-system", "get", "kubefedclusters")
    assert clusters.splitlines()[0].split() == ["NAME", "AGE", "READY", "KUBERNETES-VERSION"]
    assert [line.split()[0] for line in clusters.splitlines()[1:]] == [ONE, TWO]

    # A namespace and what is in it.
    guide.kubectl("create", "namespace", "demo")
    guide.kubectl("-n", "demo", "create", "deployment", "web", "--image=example/web:1", "--replicas=3")
    guide.kubectl("-n", "demo", "create", "configmap", "settings", "--from-literal=a=b")
    guide.kubefedctl("federate", "namespace", "demo", "--contents")
    await guide.everywhere({ONE: 3, TWO: 3}, DEPLOYMENTS, "web", "status", "readyReplicas")
    assert guide.kubectl("-n", "demo", "get", "fdeploy", "--no-headers").split()[:2] == ["web", "True"]
    await guide.everywhere({ONE: "b", TWO: "b"}, CONFIG_MAPS, "settings", "data", "a")

    # A change of the template, and what is different in a cluster.
    guide.patch("federatedconfigmap", "settings", {"spec": {"template": {"data": {"a": "c"}}}})
    await guide.everywhere({ONE: "c", TWO: "c"}, CONFIG_MAPS, "settings", "data", "a")
    override = {"clusterName": TWO, "clusterOverrides": [{"path": "/spec/replicas", "value": 1}]}
    guide.patch("federateddeployment", "web", {"spec": {"overrides": [override]}})
    await guide.everywhere({ONE: 3, TWO: 1}, DEPLOYMENTS, "web", "spec", "replicas")

    # Placement by label.
    guide.kubectl("-n", "kube-federation-system", "label", "kubefedcluster", ONE, "foo=bar")
    guide.patch(
        "federatedconfigmap",
        "settings",
        {"spec": {"placement": {"clusterSelector": {"matchLabels": {"foo": "bar"}}}}},
    )
    await guide.everywhere({ONE: "c", TWO: None}, CONFIG_MAPS, "settings", "data", "a")

    # Replicas by weight.
    preference = yaml.safe_load(PREFERENCE)
    preference["spec"]["clusters"] = {ONE: {"weight": 2}, TWO: {"weight": 1}}
    guide.apply(yaml.safe_dump(preference))
    await guide.everywhere({ONE: 6, TWO: 3}, DEPLOYMENTS, "web", "status", "readyReplicas")

    # A cluster is lost, and back: what it had is elsewhere meanwhile.
    until_probed = {"spec": {"clusterHealthCheck": {"period": "1s", "failureThreshold": 1}}}
    guide.kubectl(
        "-n",
        "kube-federation-system",
        "patch",
        "kubefedconfig",
        "kubefed",
        "--type=merge",
        "-p",
        json.dumps(until_probed),
    )
    guide.user.pyb("down", "--cluster", HOST)
    guide.user.pyb("up", HOST)
    guide.user.pyb("down", "--cluster", TWO)
    await guide.everywhere({ONE: 9}, DEPLOYMENTS, "web", "status", "readyReplicas")
    shown = guide.user.pyb("federation", "status", "--host-cluster-context", HOST)
    assert "no (ClusterNotReachable)" in shown
    guide.user.pyb("up", TWO)
    await guide.everywhere({ONE: 6, TWO: 3}, DEPLOYMENTS, "web", "status", "readyReplicas")

    # What is orphaned stays.
    guide.kubefedctl("orphaning-deletion", "enable", "federatedconfigmap", "settings", "-n", "demo")
    guide.kubectl("-n", "demo", "delete", "federatedconfigmap", "settings")
    await guide.everywhere({ONE: None}, CONFIG_MAPS, "settings", "metadata", "labels", "kubefed.io/managed")
    await guide.everywhere({ONE: "c"}, CONFIG_MAPS, "settings", "data", "a")

    # What is not goes, and a cluster leaves.
    guide.kubectl("-n", "demo", "delete", "rsp", "web")
    guide.kubectl("-n", "demo", "delete", "federateddeployment", "web")
    await guide.everywhere({ONE: None, TWO: None}, DEPLOYMENTS, "web", "spec", "replicas")
    guide.kubefedctl("unjoin", TWO)
    assert TWO not in guide.kubectl("-n", "kube-federation-system", "get", "kubefedclusters")
