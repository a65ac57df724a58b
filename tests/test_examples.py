"""The examples do what they say."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pybernetes.client import NotFound
from pybernetes.client.refs import CONFIG_MAPS, DEPLOYMENTS, EVENTS, LEASES, NODES, PODS, SERVICES
from tests.cluster import Cluster, pod
from tests.servers import Server, running
from tests.support import eventually, require_program
from tests.upgraded import Upgraded

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"


@asynccontextmanager
async def program(name: str, *arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(EXAMPLES / name), *arguments, env=environment, stdout=asyncio.subprocess.PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def line(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    return (await process.stdout.readline()).decode().rstrip()


def test_every_example_is_tested() -> None:
    tested = [
        "01_watch_pods.py",
        "02_operator.py",
        "03_cluster_in_a_test.py",
        "04_extension_server.py",
        "05_cloud_provider.py",
    ]
    assert sorted(path.name for path in EXAMPLES.glob("*.py")) == tested


async def test_watch_pods() -> None:
    async with Cluster() as cluster:
        await cluster.client.create(PODS, pod("first"))
        async with program("01_watch_pods.py", f"--kubeconfig={cluster.kubeconfig()}") as process:
            assert await line(process) == "ADDED    default/first Pending"
            await cluster.client.create(PODS, pod("second"))
            assert await line(process) == "ADDED    default/second Pending"
            await cluster.client.delete(PODS, "first", "default", grace=0)
            assert await line(process) == "DELETED  default/first Pending"


async def test_operator() -> None:
    async with (
        Cluster() as cluster,
        program("02_operator.py", f"--kubeconfig={cluster.kubeconfig()}") as process,
    ):
        client = cluster.client
        address = (await line(process)).rpartition(" ")[2]
        meta = {"name": "hello", "namespace": "default", "labels": {"example.com/site": "true"}}
        await client.create(
            CONFIG_MAPS, {"metadata": meta, "data": {"replicas": "2", "image": "example/web:1"}}
        )

        async def replicas() -> int:
            try:
                return (await client.get(DEPLOYMENTS, "hello", "default"))["spec"]["replicas"]
            except NotFound:
                return 0

        async def service() -> bool:
            return bool((await client.list(SERVICES, "default", fields="metadata.name=hello")).items)

        await eventually(lambda: _is(replicas, 2))
        await eventually(service)
        await client.patch(CONFIG_MAPS, "hello", {"data": {"replicas": "5"}}, "default")
        await eventually(lambda: _is(replicas, 5))
        await client.delete(DEPLOYMENTS, "hello", "default")
        await eventually(lambda: _is(replicas, 5))  # put back
        await client.delete(SERVICES, "hello", "default")
        await eventually(service)
        lease = await client.get(LEASES, "site-operator", "default")
        assert lease["spec"]["holderIdentity"]

        async def reported() -> bool:
            events = (await client.list(EVENTS, "default", fields="involvedObject.name=hello")).items
            return any(event["reason"] == "Created" for event in events)

        await eventually(reported)

        def scrape(path: str) -> str:
            with urllib.request.urlopen(f"{address}{path}", timeout=60) as answer:
                return answer.read().decode()

        assert await asyncio.to_thread(scrape, "/healthz") == "ok"
        assert await asyncio.to_thread(scrape, "/readyz") == "ok"
        metrics = await asyncio.to_thread(scrape, "/metrics")
        assert 'workqueue_adds_total{name="site"}' in metrics
        assert 'leader_election_master_status{name="site-operator"} 1' in metrics


async def _is(read: object, value: int) -> bool:
    return await read() == value  # type: ignore[operator]


async def test_cluster_in_a_test() -> None:
    async with program("03_cluster_in_a_test.py") as process:
        assert await line(process) == "default/hello: 3 replicas"
        assert await process.wait() == 0


async def test_extension_server(tmp_path: Path) -> None:
    require_program("kubectl")
    with running(tmp_path, "--storage-backend=memory") as server:
        async with program("04_extension_server.py", f"--kubeconfig={server.kubeconfig}") as process:
            assert (await line(process)).startswith("greetings are served on localhost:")
            await asyncio.to_thread(_greet, server)


async def test_cloud_provider(tmp_path: Path) -> None:
    about = tmp_path / "inventory-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: inventory\nVersion: 1\n")
    (about / "entry_points.txt").write_text(
        "[pybernetes.cloud_providers]\ninventory = 05_cloud_provider:make\n"
    )
    machines, config = tmp_path / "machines.json", tmp_path / "cloud.json"
    machines.write_text(
        json.dumps({"machines": {"node-1": {"address": "192.0.2.11", "type": "r720", "rack": "a"}}})
    )
    config.write_text(json.dumps({"inventory": str(machines)}))
    taint = {"key": "node.cloudprovider.kubernetes.io/uninitialized", "value": "true", "effect": "NoSchedule"}
    ports = [{"port": 80, "protocol": "TCP"}]
    balanced = {
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"type": "LoadBalancer", "ports": ports},
    }
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{EXAMPLES}:{tmp_path}"}
    async with Cluster() as cluster:
        client = cluster.client
        await client.create(NODES, {"metadata": {"name": "node-1"}, "spec": {"taints": [taint]}})
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "pybernetes.cmd.main", "cloud-controller-manager", "--cloud-provider=inventory",
            f"--cloud-config={config}", f"--kubeconfig={cluster.kubeconfig()}", "--secure-port=0",
            "--node-monitor-period=100ms", env=environment,
        )  # fmt: skip
        try:

            async def initialized() -> bool:
                node = await client.get(NODES, "node-1")
                labels = node["metadata"].get("labels") or {}
                assert taint in node["spec"]["taints"] or node["spec"]["providerID"] == "inventory://node-1"
                return (
                    labels.get("topology.kubernetes.io/zone") == "a" and taint not in node["spec"]["taints"]
                )

            await eventually(initialized)
            await client.create(SERVICES, balanced)

            async def balances() -> bool:
                status = (await client.get(SERVICES, "web", "default"))["status"]
                return status["loadBalancer"].get("ingress") == [{"ip": "192.0.2.11", "ipMode": "VIP"}]

            await eventually(balances)
            machines.write_text(json.dumps({"machines": {}}))

            async def gone() -> bool:
                return not (await client.list(NODES)).items

            await eventually(gone)
        finally:
            process.terminate()
            assert await process.wait() == 0


def _greet(server: Server) -> None:
    kubectl = server.kubectl
    kubectl("wait", "--for=condition=Available", "apiservice/v1.hello.example.com", "--timeout=60s")
    greeting = "apiVersion: hello.example.com/v1\nkind: Greeting\nmetadata: {name: a}\nspec: {to: %s}\n"
    kubectl("apply", "-f", "-", given=greeting % "world")
    assert "Hello, world!" in kubectl("get", "hi", "a")
    kubectl("apply", "-f", "-", given=greeting % "moon")
    assert kubectl("get", "hi", "a", "-o", "jsonpath={.status.text}") == "Hello, moon!"
    assert "somebody has to be greeted" in kubectl("apply", "-f", "-", given=greeting % '""', fails=True)
    assert "who is greeted" in kubectl("explain", "greetings.spec.to")
    # It lets in whom the cluster's roles let in.
    assert "forbidden" in kubectl("get", "hi", "--as=mia", fails=True)
    kubectl("create", "clusterrole", "reads", "--verb=list", "--resource=greetings.hello.example.com")
    kubectl("create", "clusterrolebinding", "mia", "--clusterrole=reads", "--user=mia")
    assert "Hello, moon!" in kubectl("get", "hi", "--as=mia")
    # Any protocol passes through both servers, in both directions.
    path = "/apis/hello.example.com/v1/namespaces/default/greetings/a/line"
    for protocol in ("SPDY/3.1", "websocket"):
        client = Upgraded(server, path, protocol=protocol)
        try:
            assert client.head[0].startswith("HTTP/1.1 101"), client.head
            for word in (b"hello\n", b"again " * 50_000 + b"\n"):
                client.say(word)
                assert client.file.readline() == word.upper()
        finally:
            client.close()
