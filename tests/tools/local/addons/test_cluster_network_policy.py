"""The definition of ClusterNetworkPolicy: what it takes, what it refuses, and that nodes follow it."""

from __future__ import annotations

import asyncio
from ipaddress import ip_network
from typing import Any

import pytest

from pybernetes.client.errors import StatusError
from pybernetes.client.refs import PODS
from pybernetes.node.network.policy import policies as module
from pybernetes.node.network.policy.policies import Policies
from pybernetes.node.network.policy.sources import CLUSTER_NETWORK_POLICIES
from pybernetes.tools.local.addons import addons, cluster_network_policy
from tests.cluster import Cluster
from tests.support import eventually

PEER = {"pods": {"namespaceSelector": {}, "podSelector": {"matchLabels": {"app": "a"}}}}
RULE = {"action": "Deny", "from": [PEER], "protocols": [{"tcp": {"destinationPort": {"number": 80}}}]}
SPEC: dict[str, Any] = {"tier": "Admin", "priority": 1, "subject": {"namespaces": {}}, "ingress": [RULE]}


def policy(**changes: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p"}, "spec": {**SPEC, **changes}}


async def test_what_the_definition_takes_and_who_follows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []

    async def run(*command: str, text: str = "") -> str:
        texts.append(text)
        return ""

    monkeypatch.setattr(module, "run_command", run)
    async with Cluster() as cluster:
        agent = Policies(cluster.client, "here")
        agent.set_ranges([ip_network("10.0.0.0/24")])
        task = asyncio.create_task(agent.run())
        try:
            await eventually(lambda: agent.settled)
            await addons.apply(cluster.client, cluster_network_policy.definition())
            await eventually(lambda: agent.sources.cluster is not None and agent.sources.cluster.synced)
            networks = {"to": [{"networks": ["10.0.0.0/33"]}], "action": "Deny"}
            both = {"namespaces": {}, **PEER}
            port = {"tcp": {"destinationPort": {"range": {"start": 9, "end": 9}}}}
            wrongs: tuple[dict[str, Any], ...] = (
                {"tier": "Other"},
                {"priority": 1001},
                {"subject": {}},
                {"subject": both},
                {"egress": [networks]},
                {"ingress": [{**RULE, "action": "Allow"}]},
                {"ingress": [{**RULE, "from": []}]},
                {"ingress": [{**RULE, "protocols": [port]}]},
                {"ingress": [RULE] * 26},
            )
            for wrong in wrongs:
                with pytest.raises(StatusError) as refused:
                    await cluster.client.create(CLUSTER_NETWORK_POLICIES, policy(**wrong))
                assert refused.value.code == 422, wrong
            await cluster.client.create(CLUSTER_NETWORK_POLICIES, policy())
            containers = [{"name": "c", "image": "i"}]
            pod = {"metadata": {"name": "web"}, "spec": {"nodeName": "here", "containers": containers}}
            await cluster.client.create(PODS, pod, "default")
            status = {"status": {"podIPs": [{"ip": "10.0.0.1"}], "podIP": "10.0.0.1"}}
            await cluster.client.patch(PODS, "web", status, "default", subresource="status")
            await eventually(lambda: "10.0.0.1 : jump ingress-pod-" in "".join(texts))
            assert "ingress-admin-" in "".join(texts)
            await cluster.client.delete(CLUSTER_NETWORK_POLICIES, "p")
            await eventually(lambda: not agent.gated)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
