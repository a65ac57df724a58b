"""kube-proxy against a real API server, in a network namespace: as a part of a process, and as the program."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import sys
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import pytest

from pybernetes.client.refs import ENDPOINT_SLICES, NODES, SERVICES
from pybernetes.control_plane.apiserver.authn.user import AUTHENTICATED, User
from pybernetes.node.proxy import config
from pybernetes.node.proxy.backend import Settings, modes
from pybernetes.node.proxy.node import Node
from pybernetes.node.proxy.proxy_server import ProxyServer, cleanup
from tests.cluster import Cluster
from tests.node.proxy.namespaces import NODE_IP, POD_RANGE, PODS, World, command, inside, needs_namespaces
from tests.support import eventually

pytestmark = needs_namespaces
# Nobody but system:kube-proxy: what it may do follows from its role system:node-proxier.
USER = User("system:kube-proxy", groups=(AUTHENTICATED,))
MODES = ("iptables", "nftables", "userspace")
PERIODS = {"minSyncPeriod": "10ms"}


def service(**spec: Any) -> dict[str, Any]:
    ports = [{"name": "http", "port": 80, "protocol": "TCP"}, {"name": "dns", "port": 53, "protocol": "UDP"}]
    fields = {"clusterIP": "10.96.0.77", "ports": ports, **spec}
    return {"metadata": {"name": "web", "namespace": "default"}, "spec": fields}


def slice_of(*pods: str, **conditions: bool) -> dict[str, Any]:
    endpoints = [
        {"addresses": [PODS[pod]], "nodeName": "far" if pod == "far" else "here", "conditions": {"ready": True, **conditions}}
        for pod in pods
    ]  # fmt: skip
    ports = [
        {"name": "http", "port": 8080, "protocol": "TCP"},
        {"name": "dns", "port": 8080, "protocol": "UDP"},
    ]
    labels = {"kubernetes.io/service-name": "web"}
    meta = {"name": "web-1", "namespace": "default", "labels": labels}
    return {"metadata": meta, "addressType": "IPv4", "endpoints": endpoints, "ports": ports}


@contextlib.asynccontextmanager
async def world() -> AsyncIterator[tuple[World, Cluster]]:
    with World() as made, inside(made.names["node"]):
        async with Cluster("--service-cluster-ip-range=10.96.0.0/16", "--authorization-mode=Node,RBAC",
                           tokens='proxy-token,system:kube-proxy,2,"system:authenticated"\n') as cluster:  # fmt: skip
            for pod in PODS:
                await made.serve(pod)
            await cluster.client.create(NODES, {"metadata": {"name": "here"}})
            status = {"addresses": [{"type": "InternalIP", "address": NODE_IP}]}
            await cluster.client.patch(NODES, "here", {"status": status}, subresource="status")
            try:
                yield made, cluster
            finally:
                made.stop()


@pytest.mark.parametrize("mode", MODES)
def test_follows_the_api_server(mode: str) -> None:
    async def run() -> None:
        async with world() as (made, cluster):
            settings = config.completed(
                {"mode": mode, "clusterCIDR": POD_RANGE, "iptables": PERIODS, "nftables": PERIODS}
            )
            proxy = ProxyServer(
                cluster.local_client(USER), settings, "here", service_ranges=("10.96.0.0/16",)
            )
            task = asyncio.create_task(proxy.run())
            try:
                await asyncio.wait_for(proxy.synced.wait(), 60)
                await _scenario(made, cluster, proxy)
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    asyncio.run(bounded(run()))


async def bounded(work: Coroutine[Any, Any, None]) -> None:
    """End a test that hangs, and say where everything stood."""
    task = asyncio.create_task(work)
    done, _ = await asyncio.wait({task}, timeout=170)
    if not done:
        stood = []
        for other in asyncio.all_tasks():
            frames: list[str] = []
            inner: Any = other.get_coro()
            while getattr(inner, "cr_frame", None) is not None:
                frames.append(f"{inner.cr_frame.f_code.co_qualname}:{inner.cr_frame.f_lineno}")
                inner = inner.cr_await
            stood.append(" > ".join(frames))
        task.cancel()
        await asyncio.wait({task}, timeout=10)
        raise AssertionError("it hangs:\n" + "\n".join(stood))
    await task


async def _scenario(world: World, cluster: Cluster, proxy: ProxyServer) -> None:
    client, address = cluster.client, "10.96.0.77"

    async def answers(where: str, port: int = 80, ip: str = address) -> str:
        try:
            return (await world.ask(where, ip, port, 2))[0]
        except ConnectionRefusedError:
            return "refused"
        except (OSError, TimeoutError):
            return "nothing"

    await client.create(SERVICES, service(type="NodePort"))
    await eventually(lambda: _is(answers("a"), "refused"))
    await client.create(ENDPOINT_SLICES, slice_of("a"))
    await eventually(lambda: _is(answers("b"), "a"))
    asker = world.socket_in("outside", socket.SOCK_DGRAM)

    async def told() -> str:
        try:
            return await world.tell(asker, address, 53, 2)
        except TimeoutError:
            return "nothing"

    await eventually(lambda: _is(told(), "a"))
    await client.patch(ENDPOINT_SLICES, "web-1", {"endpoints": slice_of("b")["endpoints"]}, "default")
    await eventually(lambda: _is(answers("a"), "b"))
    # The same socket goes on with the new pod: the connection to the old one has been forgotten.
    await eventually(lambda: _is(told(), "b"))
    asker.close()
    # A pod that is going still serves while there is no other.
    going = slice_of("b", ready=False, serving=True, terminating=True)
    await client.patch(ENDPOINT_SLICES, "web-1", {"endpoints": going["endpoints"]}, "default")
    node_port = (await client.get(SERVICES, "web", "default"))["spec"]["ports"][0]["nodePort"]
    await eventually(lambda: _is(answers("outside", node_port, NODE_IP), "b"))

    status, page = await _get("127.0.0.1", 10256, "/healthz")
    assert status == 200 and json.loads(page)["healthy"] and json.loads(page)["nodeEligible"]
    status, shown = await _get("127.0.0.1", 10249, "/configz")
    assert status == 200 and json.loads(shown)["kubeproxy.config.k8s.io"]["clusterCIDR"] == POD_RANGE
    assert await _get("127.0.0.1", 10249, "/proxyMode") == (200, proxy.mode_name)
    _, metrics = await _get("127.0.0.1", 10249, "/metrics")
    assert re.search(r'kubeproxy_sync_proxy_rules_duration_seconds_count{ip_family="IPv4"} [1-9]', metrics)
    assert 'kubeproxy_proxy_healthz_total{code="200"} 1' in metrics

    # Others take our rules away: all of them come back, though nothing has changed.
    await client.patch(ENDPOINT_SLICES, "web-1", {"endpoints": slice_of("a")["endpoints"]}, "default")
    await eventually(lambda: _is(answers("b"), "a"))
    for vandal in (("iptables", "-t", "nat", "-F"), ("nft", "flush", "ruleset")):
        command(*vandal)
        await eventually(lambda: _is(answers("b"), "a"))

    # With local traffic a load balancer may ask whether this node has a pod. The port is one that the server gives
    # nobody who does not ask for it.
    local = {"type": "LoadBalancer", "externalTrafficPolicy": "Local", "healthCheckNodePort": 30034}
    await client.patch(SERVICES, "web", {"spec": local}, "default")
    await eventually(
        lambda: _is(_get("127.0.0.1", 30034, "/"), (200, 1), lambda answer: (answer[0], _local(answer[1])))
    )
    await client.patch(ENDPOINT_SLICES, "web-1", {"endpoints": slice_of("far")["endpoints"]}, "default")
    await eventually(
        lambda: _is(_get("127.0.0.1", 30034, "/x"), (503, 0), lambda answer: (answer[0], _local(answer[1])))
    )
    await client.delete(SERVICES, "web", "default")
    if proxy.mode_name == "iptables":
        await eventually(lambda: _is(answers("a"), "nothing"))
    await eventually(lambda: _is(_get("127.0.0.1", 30034, "/"), (0, "")))


def _local(page: str) -> int:
    return json.loads(page)["localEndpoints"] if page else -1


async def _is(work: Any, expected: Any, look: Any = lambda answer: answer) -> bool:
    return look(await work) == expected


async def _get(host: str, port: int, path: str) -> tuple[int, str]:
    """Return Status and body; (0, "") if nobody listens, or somebody who ends at this moment."""
    try:
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        async with asyncio.timeout(30):
            head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
    except OSError:
        return 0, ""
    writer.close()
    return (int(head.split(" ")[1]), body) if head else (0, "")


def test_the_program() -> None:
    async def run() -> None:
        async with world() as (made, cluster):
            await cluster.client.create(SERVICES, service())
            await cluster.client.create(ENDPOINT_SLICES, slice_of("a", "far"))
            file = cluster.directory / "proxy.yaml"
            file.write_text(
                f"apiVersion: {config.API_VERSION}\nkind: {config.KIND}\nmode: nftables\nclusterCIDR: {POD_RANGE}\n"
                f"clientConnection: {{kubeconfig: {cluster.kubeconfig('proxy-token')}}}\n"
            )
            begin = [sys.executable, "-m", "pybernetes.cmd.main", "kube-proxy"]
            program = await asyncio.create_subprocess_exec(
                *begin, f"--config={file}", "--hostname-override=here"
            )

            async def reached() -> bool:
                try:
                    return (await made.ask("b", "10.96.0.77", 80, 1.0))[0] in ("a", "far")
                except (OSError, TimeoutError):
                    return False

            try:
                await eventually(reached, 60)
            finally:
                program.terminate()
                assert await program.wait() == 0
            await eventually(reached)  # rules stay when the program goes
            assert await (await asyncio.create_subprocess_exec(*begin, "--cleanup")).wait() == 0
            assert "kube" not in command("nft", "list", "ruleset")

    asyncio.run(run())


def test_cleanup() -> None:
    """Where nothing is it does nothing; a mode that begins removes what another left."""

    async def run() -> None:
        await cleanup()
        assert "KUBE" not in command("iptables-save")
        for mode in MODES:
            backend = modes()[mode](Settings(Node("here", addresses=(NODE_IP,))), 4)
            await cleanup(keep=modes()[mode].rules)
            await backend.resync([])
            await backend.close()
            rules = command("iptables-save") + command("nft", "list", "tables")
            assert ("KUBE-SERVICES" in rules, "kube-proxy" in rules) == (
                mode != "nftables",
                mode == "nftables",
            )

    with World() as made, inside(made.names["node"]):
        asyncio.run(run())
