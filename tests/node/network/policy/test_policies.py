"""A node follows the API server: what it watches, what it writes, and when a pod may start."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from ipaddress import ip_network
from typing import Any

import pytest

from pybernetes.client.refs import NAMESPACES, NETWORK_POLICIES, PODS
from pybernetes.lib.processes.commands import CommandError
from pybernetes.node.network.policy import connections
from pybernetes.node.network.policy import policies as module
from pybernetes.node.network.policy.gate import Request
from pybernetes.node.network.policy.policies import Policies
from tests.cluster import Cluster
from tests.node.proxy.namespaces import command, inside, needs_namespaces
from tests.support import eventually

CLOSED = {"metadata": {"name": "closed"}, "spec": {"podSelector": {}}}
RANGE = ip_network("10.0.0.0/24")


class Kernel:
    """Takes what nft would read; fails when told to, and waits when told to."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.forgotten: set[str] = set()  # addresses
        self.fails = 0
        self.open = asyncio.Event()
        self.open.set()

    async def run(self, *command: str, text: str = "") -> str:
        await self.open.wait()
        if self.fails:
            self.fails -= 1
            raise CommandError("not now")
        self.texts.append(text)
        return ""

    def forget(self, addresses: set[str]) -> None:
        self.forgotten |= addresses

    @property
    def last(self) -> str:
        return self.texts[-1] if self.texts else ""


@contextlib.asynccontextmanager
async def running(cluster: Cluster, kernel: Kernel) -> AsyncIterator[Policies]:
    agent = Policies(cluster.client, "here")
    agent.set_ranges([RANGE])
    task = asyncio.create_task(agent.run())
    try:
        await eventually(lambda: agent.settled)
        yield agent
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    made = Kernel()
    monkeypatch.setattr(module, "run_command", made.run)
    monkeypatch.setattr(connections.Connections, "forget", made.forget)
    return made


async def make_pod(cluster: Cluster, name: str, address: str, node: str = "here", **labels: str) -> Any:
    containers = [{"name": "c", "image": "i"}]
    pod = await cluster.client.create(
        PODS,
        {"metadata": {"name": name, "labels": labels}, "spec": {"nodeName": node, "containers": containers}},
        "default",
    )
    if address:
        status = {"status": {"podIP": address, "podIPs": [{"ip": address}], "phase": "Running"}}
        await cluster.client.patch(PODS, name, status, "default", subresource="status")
    return pod


async def test_without_a_policy_nothing_is_followed_and_nothing_is_there(kernel: Kernel) -> None:
    async with Cluster() as cluster:
        await make_pod(cluster, "web", "10.0.0.1")
        async with running(cluster, kernel) as agent:
            assert not agent.gated and agent.sources.pods is None and agent.state is None
            assert kernel.texts == ["add table inet pybernetes-policy\ndelete table inet pybernetes-policy\n"]
            await cluster.client.create(NETWORK_POLICIES, CLOSED, "default")
            await eventually(lambda: agent.gated)
            assert "10.0.0.1 : jump ingress-pod-" in kernel.last
            # A change of one pod is a change of elements, and no more.
            await make_pod(cluster, "db", "10.0.0.2")
            await eventually(lambda: "10.0.0.2" in kernel.last)
            assert "add element" in kernel.last and "chain" not in kernel.last
            await cluster.client.delete(NETWORK_POLICIES, "closed", "default")
            await eventually(lambda: not agent.gated)
            assert agent.sources.pods is None and kernel.last.endswith(
                "delete table inet pybernetes-policy\n"
            )


async def test_what_the_kernel_refuses_is_written_as_a_whole(kernel: Kernel) -> None:
    async with Cluster() as cluster:
        await cluster.client.create(NETWORK_POLICIES, CLOSED, "default")
        async with running(cluster, kernel) as agent:
            kernel.fails = 1
            await make_pod(cluster, "web", "10.0.0.1")
            await eventually(lambda: "10.0.0.1" in kernel.last)
            assert kernel.last.startswith("add table") and agent.gated


async def test_a_pod_may_start_once_its_rules_are_in(kernel: Kernel) -> None:
    async with Cluster() as cluster:
        await cluster.client.create(NETWORK_POLICIES, CLOSED, "default")
        async with running(cluster, kernel) as agent:
            kernel.open.clear()
            # It asks before its own event has come: an API server may be slow.
            asking = asyncio.create_task(agent._admit(Request("default/web", "", ("10.0.0.1",), b"")))
            await asyncio.sleep(0)
            made = await make_pod(cluster, "web", "")
            await eventually(lambda: agent.state and "default/web" in agent.state.local)
            assert not asking.done() and "10.0.0.1" not in kernel.last
            kernel.open.set()
            await asking
            assert any("10.0.0.1 : jump ingress-pod-" in text for text in kernel.texts)
            # Another pod of the same name is another pod.
            other = asyncio.create_task(agent._admit(Request("default/web", "other", ("10.0.0.2",), b"")))
            assert not (await asyncio.wait((other,), timeout=0.05))[0]
            other.cancel()
            await agent._admit(Request("default/web", made["metadata"]["uid"], ("10.0.0.3",), b""))
            assert "10.0.0.3" in kernel.last and "10.0.0.1" in kernel.last
            assert kernel.forgotten == {"10.0.0.1"}
            # Nor does it inherit the connections of another pod that is said to have its address.
            await make_pod(cluster, "last", "10.0.0.4")
            await eventually(lambda: "10.0.0.4" in kernel.last)
            await agent._admit(Request("default/web", made["metadata"]["uid"], ("10.0.0.4",), b""))
            assert "10.0.0.4" in kernel.forgotten


async def test_a_namespace_that_gets_a_label_is_another_peer(kernel: Kernel) -> None:
    peers = [{"from": [{"namespaceSelector": {"matchLabels": {"team": "a"}}}]}]
    policy = {"metadata": {"name": "p"}, "spec": {"podSelector": {}, "ingress": peers}}
    async with Cluster() as cluster:
        await cluster.client.create(NETWORK_POLICIES, policy, "default")
        await make_pod(cluster, "web", "10.0.0.1")
        async with running(cluster, kernel) as agent:
            assert "add element inet pybernetes-policy pods4-" not in kernel.last
            await cluster.client.patch(NAMESPACES, "default", {"metadata": {"labels": {"team": "a"}}})
            await eventually(lambda: "add element inet pybernetes-policy pods4-" in kernel.last)
            assert agent.state is not None


@needs_namespaces
async def test_what_somebody_takes_away_comes_back(caplog: pytest.LogCaptureFixture) -> None:
    name = f"pybt{os.getpid()}-policies"
    command("ip", "netns", "add", name)

    def table() -> str:
        return command("nft", "list", "ruleset")

    try:
        async with Cluster() as cluster:
            with inside(name):
                await cluster.client.create(NETWORK_POLICIES, CLOSED, "default")
                async with running(cluster, Kernel()):
                    await make_pod(cluster, "web", "10.0.0.1")
                    await eventually(lambda: "10.0.0.1 : jump" in table())
                    for vandal in ("flush ruleset", "flush map inet pybernetes-policy ingress4"):
                        command("nft", *vandal.split())
                        await eventually(lambda: "10.0.0.1 : jump ingress-pod-" in table())
                    # Our own changes, and those of others who are none of our business, need no repair.
                    command("nft", "add", "table", "inet", "another")
                    command("nft", "delete", "table", "inet", "another")
                    ended = {"status": {"phase": "Succeeded"}}
                    await cluster.client.patch(PODS, "web", ended, "default", subresource="status")
                    await eventually(lambda: "10.0.0.1 : jump" not in table())
                    await cluster.client.delete(NETWORK_POLICIES, "closed", "default")
                    await eventually(lambda: "pybernetes-policy" not in table())
                    assert caplog.text.count("were removed by others") == 2
    finally:
        command("ip", "netns", "delete", name)
