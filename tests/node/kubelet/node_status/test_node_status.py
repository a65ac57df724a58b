"""The status of a node."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.client import kubeconfig as config
from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import EVENTS, NODES
from pybernetes.lib.clock import ManualClock
from pybernetes.node.kubelet.config import DEFAULTS
from pybernetes.node.kubelet.node_status.node_status import NodeStatus, conditions
from pybernetes.node.kubelet.options import Options
from tests.node.kubelet.crio import Crio, kubelet_on
from tests.servers import running
from tests.support import eventually, require_root


def test_conditions_of_nodes() -> None:
    by_type = {
        condition["type"]: condition
        for condition in conditions([], ["a", "b"], frozenset(["DiskPressure"]), 0)
    }
    assert by_type["Ready"]["message"] == "[a, b]" and by_type["Ready"]["status"] == "False"
    assert by_type["DiskPressure"]["reason"] == "KubeletHasDiskPressure"
    again = conditions(list(by_type.values()), [], frozenset(), 60)
    assert {condition["type"]: condition["lastTransitionTime"][-4:] for condition in again} == {
        "MemoryPressure": ":00Z", "DiskPressure": ":00Z", "PIDPressure": ":00Z", "Ready": ":00Z",
    }  # fmt: skip


def registered(tmp_path: Path, cloud: str, *node_ips: str) -> NodeStatus:
    options = Options("n", tmp_path, DEFAULTS, node_ips=node_ips, cloud_provider=cloud)
    nothing: Any = None
    return NodeStatus(
        nothing, ManualClock(), options, addresses=node_ips or ("192.0.2.9",), runtime_version="x",
        images=list, problems=list, pressures=frozenset, port=lambda: 10250,
    )  # fmt: skip


FROM_CLOUD = [{"type": "ExternalIP", "address": "198.51.100.1"}]


@pytest.mark.parametrize(
    ("cloud", "node_ips", "previous", "addresses"),
    [
        ("", (), [], ["192.0.2.9", "n"]),
        ("", (), FROM_CLOUD, ["192.0.2.9", "n"]),
        ("external", (), [], ["n"]),  # the cloud will say
        ("external", ("10.0.0.1",), [], ["10.0.0.1", "n"]),
        ("external", ("10.0.0.1",), FROM_CLOUD, ["198.51.100.1"]),  # it has said
    ],
)
def test_addresses_in_a_cloud(
    tmp_path: Path, cloud: str, node_ips: tuple[str, ...], previous: list[Object], addresses: list[str]
) -> None:
    status = registered(tmp_path, cloud, *node_ips).status({"addresses": previous})
    assert [entry["address"] for entry in status["addresses"]] == addresses


def test_registration_in_a_cloud(tmp_path: Path) -> None:
    node = registered(tmp_path, "external", "10.0.0.1", "fd00::1").initial()
    key = "alpha.kubernetes.io/provided-node-ip"
    assert node["metadata"]["annotations"][key] == "10.0.0.1,fd00::1"
    taint = {"key": "node.cloudprovider.kubernetes.io/uninitialized", "value": "true", "effect": "NoSchedule"}
    assert node["spec"]["taints"] == [taint]
    alone = registered(tmp_path, "", "10.0.0.1").initial()
    assert key not in alone["metadata"]["annotations"] and "taints" not in alone["spec"]


def test_a_kubelet_that_does_not_register_waits_for_its_node(tmp_path: Path) -> None:
    """``--register-node=false``: somebody else makes the Node, and its kubelet takes it as it is."""

    async def check(client: Client) -> None:
        crio = Crio()
        crio.network = True
        async with kubelet_on(crio, tmp_path, client, registerNode=False) as kubelet:
            await eventually(lambda: crio.opened)  # it works
            with pytest.raises(NotFound):
                await client.get(NODES, "node")
            made = await client.create(NODES, {"metadata": {"name": "node", "labels": {"ours": "yes"}}})

            def is_ready() -> bool:
                status = kubelet.node().get("status", {})
                by_type = {
                    condition["type"]: condition["status"] for condition in status.get("conditions", ())
                }
                return by_type.get("Ready") == "True"

            await eventually(is_ready)
            node = await client.get(NODES, "node")
            assert node["metadata"]["uid"] == made["metadata"]["uid"]
            assert node["status"]["nodeInfo"]["containerRuntimeVersion"] == "cri-o://1.34.1"
            boot = node["status"]["nodeInfo"]["bootID"]
            await client.patch_status(NODES, "node", {"status": {"nodeInfo": {"bootID": "another"}}})
            assert kubelet.node_status is not None
            kubelet.node_status.wake()

            async def rebooted() -> list[Object]:
                events = (await client.list(EVENTS, "default", fields="reason=Rebooted")).items
                return [event for event in events if event["involvedObject"]["name"] == "node"]

            await eventually(rebooted)
            (event,) = await rebooted()
            assert event["message"] == f"Node node has been rebooted, boot id: {boot}"
            assert event["type"] == "Warning"

    async def run(file: str) -> None:
        client = config.load(file).client(user_agent="kubelet")
        try:
            await check(client)
        finally:
            await client.close()

    require_root()
    with running(tmp_path) as server:
        asyncio.run(run(str(server.kubeconfig)))
