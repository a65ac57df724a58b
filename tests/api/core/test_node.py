import pytest

from pybernetes.api.core.node import RESOURCE
from pybernetes.api.resource import Object
from tests.api.writes import create, row_by_name, update, update_status


def test_a_node_registers_with_its_status() -> None:
    status = {"capacity": {"cpu": "4", "memory": "1Gi"}, "config": {"error": "x"}}
    node = create(RESOURCE, {"status": status, "spec": {"podCIDR": "10.0.0.0/24", "configSource": {}}})[0]
    assert node["status"]["allocatable"] == node["status"]["capacity"] == {"cpu": "4", "memory": "1Gi"}
    assert node["spec"] == {"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.0.0.0/24"]}
    assert "config" not in node["status"]
    assert node["status"]["daemonEndpoints"] == {"kubeletEndpoint": {"Port": 0}}
    assert node["status"]["nodeInfo"]["kubeletVersion"] == ""


def test_the_single_cidr_wins() -> None:
    node = create(RESOURCE, {"spec": {"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.1.0.0/24", "fd00::/64"]}})[0]
    assert node["spec"]["podCIDRs"] == ["10.0.0.0/24"]


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        ({"spec": {"podCIDRs": ["10.0.0.0/24", "fd00::/64"]}}, []),
        ({"spec": {"podCIDRs": ["10.0.0.0/24", "10.1.0.0/24"]}},
         ['spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.1.0.0/24"]: may specify no more than one CIDR for each IP family']),
        ({"spec": {"podCIDR": "10.0.0.1/24"}},
         ['spec.podCIDRs[0]: Invalid value: "10.0.0.1/24": must not have bits set beyond the prefix length']),
        ({"spec": {"taints": [{"key": "a", "effect": "X"}]}},
         ['metadata.taints[0].effect: Unsupported value: "X": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"']),
        ({"spec": {"taints": [{"key": "a", "effect": "NoExecute"}, {"key": "a", "effect": "NoExecute"}]}},
         ['metadata.taints[1]: Duplicate value: {"Key":"a","Value":"","Effect":"NoExecute","TimeAdded":null}: '
          "taints must be unique by key and effect pair"]),
        ({"status": {"capacity": {"pods": "1500m"}}},
         ['status.capacity.pods: Invalid value: "1500m": must be an integer',
          'status.allocatable.pods: Invalid value: "1500m": must be an integer']),
        ({"status": {"capacity": {"cpu": "-1"}, "allocatable": {"cpu": "1"}}},
         ['status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0']),
        ({"status": {"declaredFeatures": ["B", "A", "A"]}},
         ['status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically',
          'status.declaredFeatures[2]: Duplicate value: "A"']),
        ({"status": {"nodeInfo": {"swap": {"capacity": 0}}}},
         ["metadata.nodeSwapStatus.capacity: Invalid value: 0: must be greater than zero"]),
    ],
)  # fmt: skip
def test_checks(obj: Object, expected: list[str]) -> None:
    assert create(RESOURCE, obj)[1] == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"spec.unschedulable": True}, []),
        ({"spec.podCIDR": "10.1.0.0/24"},
         ['spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid']),
        ({"spec.providerID": "y"}, ["spec.providerID: Invalid value: null: field cannot be modified once set"]),
        ({"spec.providerID": None}, ["spec.providerID: Invalid value: null: field cannot be cleared once set"]),
        ({"spec.externalID": "y"}, ["spec.externalID: Forbidden: may not be updated"]),
    ],
)  # fmt: skip
def test_updates(changes: Object, expected: list[str]) -> None:
    old = create(RESOURCE, {"spec": {"podCIDR": "10.0.0.0/24", "providerID": "x"}})[0]
    assert update(RESOURCE, old, changes)[1] == expected


def test_status_updates() -> None:
    old = create(RESOURCE, {})[0]
    address = {"type": "InternalIP", "address": "1.2.3.4"}
    new, errors = update_status(RESOURCE, old, {"addresses": [address, address], "config": {}})
    assert errors == ['status.addresses[1]: Duplicate value: {"Type":"InternalIP","Address":"1.2.3.4"}']
    assert "config" not in new["status"]


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        ({}, {"Status": "Unknown", "Roles": "<none>", "Version": "", "Internal-IP": "<none>", "External-IP": "<none>",
              "OS-Image": "<unknown>", "Kernel-Version": "<unknown>", "Container-Runtime": "<unknown>"}),
        ({"metadata": {"labels": {"node-role.kubernetes.io/worker": "", "kubernetes.io/role": "edge"}},
          "spec": {"unschedulable": True},
          "status": {"conditions": [{"type": "Ready", "status": "True"}],
                     "addresses": [{"type": "InternalIP", "address": "1.2.3.4"}],
                     "nodeInfo": {"kubeletVersion": "v1.37.0", "kernelVersion": "6.1", "architecture": "amd64"}}},
         {"Status": "Ready,SchedulingDisabled", "Roles": "edge,worker", "Version": "v1.37.0", "Internal-IP": "1.2.3.4",
          "Kernel-Version": "6.1 (amd64)"}),
        ({"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}, {"Status": "NotReady"}),
    ],
)  # fmt: skip
def test_columns(obj: Object, expected: Object) -> None:
    shown = row_by_name(RESOURCE, create(RESOURCE, obj)[0])
    assert {key: shown[key] for key in expected} == expected


def test_selectable() -> None:
    read = RESOURCE.selectable["spec.unschedulable"]
    assert (read({"spec": {"unschedulable": True}}), read({})) == ("true", "false")
