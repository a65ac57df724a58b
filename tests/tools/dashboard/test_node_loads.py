"""The sums of nodes: what pods ask for, as they come, change and go."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pybernetes.tools.dashboard.live.cluster import checks
from pybernetes.tools.dashboard.node_loads import NODE, POD, Load, NodeLoads, load_of, node_of, thinned


def _pod(node: str = "one", phase: str = "Running", cpu: str = "250m", memory: str = "1Mi") -> dict[str, Any]:
    resources = {"requests": {"cpu": cpu, "memory": memory}, "limits": {"cpu": "1"}}
    return {
        "metadata": {"name": "a", "namespace": "b"},
        "spec": {"nodeName": node, "containers": [{"name": "c", "resources": resources}]},
        "status": {"phase": phase},
    }


_NODE: dict[str, Any] = {
    "metadata": {"name": "one", "labels": {"node-role.kubernetes.io/control-plane": ""}},
    "spec": {"unschedulable": True},
    "status": {
        "allocatable": {"cpu": "2", "memory": "1Gi", "pods": "110"},
        "conditions": [
            {"type": "Ready", "status": "True"},
            {"type": "DiskPressure", "status": "True", "message": "full"},
            {"type": "MemoryPressure", "status": "False"},
        ],
        "nodeInfo": {"kubeletVersion": "v1.37.0"},
    },
}


@pytest.mark.parametrize(
    ("pod", "load"),
    [
        (_pod(), ("one", Load(1, 250, 1 << 20, 1000, 0))),
        (_pod(""), None),
        (_pod(phase="Succeeded"), None),
        (_pod(cpu="many"), None),
        ({"metadata": {}}, None),
        ({"spec": []}, None),
        ({"spec": {"nodeName": "x", "containers": [1]}}, None),
    ],
)
def test_what_a_pod_asks_for(pod: dict[str, Any], load: object) -> None:
    assert load_of(pod) == load


def test_what_is_shown_of_a_node() -> None:
    assert node_of(_NODE) == {
        "name": "one", "roles": ["control-plane"], "ready": True, "problems": ["DiskPressure: full"], "unschedulable": True,
        "version": "v1.37.0", "group": "", "zone": "", "cpu": 2000, "memory": 1 << 30, "pods": 110,
    }  # fmt: skip
    labels = {"karpenter.sh/nodepool": "spot", "topology.kubernetes.io/zone": "a"}
    grouped = node_of({**_NODE, "metadata": {"name": "one", "labels": labels}})
    assert grouped is not None and (grouped["group"], grouped["zone"]) == ("spot", "a")
    broken_ones: list[dict[str, Any]] = [
        {},
        {"metadata": {"name": "x"}, "status": {"conditions": [1]}},
        {"metadata": []},
    ]
    for broken in broken_ones:
        assert node_of(broken) is None


async def test_sums_follow_what_comes_changes_and_goes() -> None:
    loads = NodeLoads()
    thin = {name: {"load": thinned(POD, pod)} for name, pod in {"one": _pod(), "two": _pod("two")}.items()}
    loads.change(NODE, None, {"load": thinned(NODE, _NODE)})
    loads.change(POD, None, thin["one"])
    loads.change(POD, None, thin["one"])
    (node,) = loads.nodes()
    assert (node["load"]["pods"], node["load"]["cpu"]) == (2, 500)
    version = loads.version
    loads.change(POD, thin["one"], thin["one"])  # nothing that counts
    assert loads.version == version
    waiting = asyncio.ensure_future(loads.changed(version))
    loads.change(POD, thin["one"], thin["two"])
    await waiting
    loads.change(POD, thin["one"], None)
    assert loads.nodes()[0]["load"] == Load()._asdict()
    loads.change(NODE, {"load": thinned(NODE, _NODE)}, None)
    assert loads.nodes() == []


def test_checks_of_a_server() -> None:
    assert checks("[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n") == [
        ("ping", True),
        ("etcd", False),
    ]
