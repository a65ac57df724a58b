"""metrics-server behind an API server, with kubelets that answer over TLS."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pybernetes.api.errors import StatusError
from pybernetes.client.client import Client
from pybernetes.client.refs import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, NAMESPACES, NODES, PODS, Ref
from pybernetes.control_plane.metrics_server.kubelet_client import KubeletAccess
from pybernetes.control_plane.metrics_server.metrics_server import MetricsServer, Options
from pybernetes.lib.clock import Clock
from pybernetes.lib.http.messages import Request, Response
from pybernetes.lib.http.server import Server
from pybernetes.lib.tls import tls
from tests.aggregated import register, trust
from tests.cluster import Cluster, pod
from tests.support import require_program

NODE_METRICS = Ref("metrics.k8s.io", "v1beta1", "nodes", "NodeMetrics", False)
POD_METRICS = Ref("metrics.k8s.io", "v1beta1", "pods", "PodMetrics")
ROOT = "/apis/metrics.k8s.io/v1beta1"
JANE = '"jane-token",jane,2\n'


class Kubelet:
    """Say that the node uses two cores, and each of its pods half of one and 64Mi."""

    def __init__(self, *pods: str) -> None:
        self.pods, self.asked, self.status = pods, 0, 200
        self._server = Server(self._answer)

    async def start(self, context: Any) -> int:
        return await self._server.start("127.0.0.1", 0, context)

    async def stop(self) -> None:
        await self._server.stop()

    async def _answer(self, request: Request) -> Response:
        self.asked += 1
        assert request.path == "/metrics/resource"
        now = Clock().now()
        moment = int(now * 1000)
        lines = [
            f"node_cpu_usage_seconds_total {2 * now:f} {moment}",
            f"node_memory_working_set_bytes {2**30} {moment}",
        ]
        for name in self.pods:
            labels = f'container="main",namespace="default",pod="{name}"'
            lines += [
                f"container_cpu_usage_seconds_total{{{labels}}} {now / 2:f} {moment}",
                f"container_memory_working_set_bytes{{{labels}}} {2**26} {moment}",
                f"container_start_time_seconds{{{labels}}} 1600000000",
            ]
        return Response("\n".join([*lines, ""]).encode(), self.status)


@asynccontextmanager
async def serving(directory: Path) -> AsyncIterator[tuple[Cluster, dict[str, Kubelet], MetricsServer]]:
    """Run two nodes with a pod each, and one whose certificate nobody vouches for."""
    kubelets = {"node-a": Kubelet("web"), "node-b": Kubelet("db", "web"), "node-c": Kubelet("other")}
    async with Cluster(tokens=JANE) as cluster:
        await _give_default_account(cluster)
        for name, kubelet in kubelets.items():
            folder = directory / ("strange" if name == "node-c" else "kubelets")
            folder.mkdir(exist_ok=True)
            certificate, key, _ = tls.ensure_serving(folder, ["127.0.0.1"])
            port = await kubelet.start(tls.server_context(certificate, key))
            await cluster.client.create(NODES, {"metadata": {"name": name, "labels": {"name": name}}})
            status = {
                "addresses": [{"type": "Hostname", "address": name}, {"type": "InternalIP", "address": "127.0.0.1"}],
                "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
                "capacity": {"cpu": "8", "memory": "4Gi"}, "allocatable": {"cpu": "8", "memory": "4Gi"},
            }  # fmt: skip
            await cluster.client.patch_status(NODES, name, {"status": status})
        for name, node in (("web", "node-a"), ("db", "node-b"), ("other", "node-c")):
            made = pod(name, labels={"app": name})
            made["spec"]["nodeName"] = node
            await cluster.client.create(PODS, made)
        auth, context, authority = await trust(cluster, directory, "metrics-server")
        kubelet_tls = tls.client_context(directory / "kubelets" / "ca.crt")
        access = KubeletAccess(
            lambda: kubelet_tls, address_types=("InternalIP",), use_node_status_port=True, timeout=5
        )
        server = MetricsServer(cluster.client, auth, Options(access, 15.0))
        port = await server.start("127.0.0.1", 0, context)
        await register(cluster, "metrics-server", "metrics.k8s.io", "v1beta1", port, authority)
        try:
            yield cluster, kubelets, server
        finally:
            await server.stop()
            for kubelet in kubelets.values():
                await kubelet.stop()


async def _give_default_account(cluster: Cluster) -> None:
    try:
        await cluster.client.create(NAMESPACES, {"metadata": {"name": "default"}})
    except StatusError:
        pass


def _names(listed: Any) -> list[str]:
    return [item["metadata"]["name"] for item in listed["items"]]


async def test_what_nodes_and_pods_use(tmp_path: Path) -> None:
    async with serving(tmp_path) as (cluster, kubelets, server):
        call = cluster.client.call
        assert not any(kubelet.asked for kubelet in kubelets.values())  # discovery is no question
        nodes = await call("GET", f"{ROOT}/nodes")
        assert nodes["kind"] == "NodeMetricsList" and _names(nodes) == ["node-a", "node-b"]
        # node-c shows a certificate of nobody: it was not even asked.
        assert kubelets["node-c"].asked == 0 and kubelets["node-a"].asked == 2
        used = await call("GET", f"{ROOT}/nodes/node-a")
        assert used["usage"]["memory"] == "1Gi" and used["metadata"]["labels"] == {"name": "node-a"}
        assert 1.9e9 < int(used["usage"]["cpu"].removesuffix("n").removesuffix("u").removesuffix("m")) * {
            "n": 1, "u": 1e3, "m": 1e6}.get(used["usage"]["cpu"][-1], 1e9) < 2.1e9  # fmt: skip
        pods = await call("GET", f"{ROOT}/pods")
        assert _names(pods) == ["db", "web"]
        # node-b speaks of a pod of node-a: what counts is what node-a says.
        web = await call("GET", f"{ROOT}/namespaces/default/pods/web")
        assert [container["name"] for container in web["containers"]] == ["main"]
        assert web["containers"][0]["usage"]["memory"] == "64Mi"
        selected = await call("GET", f"{ROOT}/namespaces/default/pods", "labelSelector=app%3Ddb")
        assert _names(selected) == ["db"]
        selected = await call("GET", f"{ROOT}/nodes", "labelSelector=name%21%3Dnode-a")
        assert _names(selected) == ["node-b"]
        selected = await call("GET", f"{ROOT}/nodes", "fieldSelector=metadata.name%3Dnode-a")
        assert _names(selected) == ["node-a"]
        table = await call(
            "GET", f"{ROOT}/namespaces/default/pods", accept="application/json;as=Table;v=v1;g=meta.k8s.io"
        )
        assert [column["name"] for column in table["columnDefinitions"]] == [
            "Name",
            "cpu",
            "memory",
            "Window",
        ]
        assert [row["cells"][0] for row in table["rows"]] == ["db", "web"]
        assert await call("GET", f"{ROOT}/nodes", "labelSelector=a%3Db") == {
            "kind": "NodeMetricsList", "apiVersion": "metrics.k8s.io/v1beta1", "metadata": {}, "items": []
        }  # fmt: skip
        await _refusals(cluster.client)
        await _strangers(cluster, cluster.rest_client("jane-token"))
        await _kubectl(cluster)
        assert server.scraper.check_storage() is None


async def _refusals(client: Client) -> None:
    for path, method, code, message in (
        (f"{ROOT}/namespaces/default/pods/none", "GET", 404, 'pods "none" not found'),
        (f"{ROOT}/nodes/none", "GET", 404, 'nodes "none" not found'),
        (f"{ROOT}/nodes/node-c", "GET", 404, 'nodemetrics.metrics.k8s.io "node-c" not found'),
        (
            f"{ROOT}/namespaces/default/pods/other",
            "GET",
            404,
            'podmetrics.metrics.k8s.io "default/other" not found',
        ),
        (f"{ROOT}/things", "GET", 404, "the server could not find the requested resource"),
        (f"{ROOT}/nodes", "DELETE", 405, "the server does not allow this method on the requested resource"),
    ):
        with pytest.raises(StatusError) as raised:
            await client.call(method, path)
        assert (raised.value.code, raised.value.message) == (code, message)
    with pytest.raises(StatusError) as raised:
        await client.call("GET", f"{ROOT}/nodes", "labelSelector=a%3D%3D%3Db")
    assert raised.value.code == 400


async def _strangers(cluster: Cluster, jane: Client) -> None:
    """Show metrics to those alone who may see them."""
    with pytest.raises(StatusError) as raised:
        await jane.call("GET", f"{ROOT}/namespaces/default/pods")
    assert raised.value.code == 403 and 'User "jane" cannot list resource "pods"' in raised.value.message
    rules = [{"apiGroups": ["metrics.k8s.io"], "resources": ["nodes"], "verbs": ["list"]}]
    await cluster.client.create(CLUSTER_ROLES, {"metadata": {"name": "reader"}, "rules": rules})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"}
    subjects = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}]
    binding = {"metadata": {"name": "reader"}, "roleRef": role, "subjects": subjects}
    await cluster.client.create(CLUSTER_ROLE_BINDINGS, binding)
    assert _names(await jane.call("GET", f"{ROOT}/nodes")) == ["node-a", "node-b"]


async def _kubectl(cluster: Cluster) -> None:
    """Have the original kubectl and ours print the same."""
    original = os.environ.get("KUBECTL") or require_program("kubectl")
    config = cluster.kubeconfig()

    def run(*command: str) -> list[str]:
        done = subprocess.run(
            [*command, f"--kubeconfig={config}"], capture_output=True, text=True, check=False, timeout=120
        )
        return [" ".join(line.split()) for line in (done.stdout + done.stderr).splitlines()]

    ours = (str(Path(__file__).parents[3] / "pyb"), "kubectl")
    for arguments in (
        ("top", "node"),
        ("top", "pod", "--containers", "--sum"),
        ("top", "pod", "-A", "--sort-by=memory"),
    ):
        theirs, own = await asyncio.gather(
            asyncio.to_thread(run, original, *arguments), asyncio.to_thread(run, *ours, *arguments)
        )
        assert theirs == own and len(own) > 2, arguments


async def test_a_kubelet_that_ends_to_answer_is_left_out(tmp_path: Path) -> None:
    async with serving(tmp_path) as (cluster, kubelets, _):
        kubelets["node-b"].status = 500
        nodes = await cluster.client.call("GET", f"{ROOT}/nodes")
        assert _names(nodes) == ["node-a"]
