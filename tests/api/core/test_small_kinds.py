"""Binding, ComponentStatus, Endpoints, ReplicationController and ServiceAccount."""

from typing import Any

import pytest

from pybernetes.api.core import binding, componentstatus, endpoints, replicationcontroller
from pybernetes.api.core.serviceaccount import serviceaccount
from tests.kinds import create, row, update_status

POD = {"containers": [{"name": "a", "image": "i"}, {"name": "b", "image": "j"}]}


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ({"name": "n"}, []),
        ({"kind": "Node", "name": "n"}, []),
        ({}, ["target.name: Required value"]),
        (
            {"kind": "X", "name": "N"},
            ['target.kind: Unsupported value: "X": supported values: "Node", "<empty>"'],
        ),
    ],
)
def test_binding(target: dict[str, str], expected: list[str]) -> None:
    assert create(binding.RESOURCE, {"target": target})[1] == expected


def test_component_status() -> None:
    resource = componentstatus.RESOURCE
    assert row(resource, componentstatus.component_status("etcd-0", True, "ok")) == {
        "Name": "etcd-0", "Status": "Healthy", "Message": "ok", "Error": "",
    }  # fmt: skip
    assert row(resource, componentstatus.component_status("a", False, error="e"))["Status"] == "Unhealthy"
    assert row(resource, {"metadata": {"name": "a"}})["Status"] == "Unknown"


@pytest.mark.parametrize(
    ("subset", "expected"),
    [
        ({}, ["subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"]),
        ({"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 1}]}, []),
        ({"addresses": [{"ip": "127.0.0.1"}]},
         ['subsets[0].addresses[0].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)']),
        ({"notReadyAddresses": [{"ip": "x"}]},
         ['subsets[0].notReadyAddresses[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
          'subsets[0].notReadyAddresses[0].ip: Invalid value: "x": must be a valid IP address']),
        ({"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 1, "name": "a"}, {"port": 2, "protocol": "X"}]},
         ["subsets[0].ports[1].name: Required value",
          'subsets[0].ports[1].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"']),
    ],
)  # fmt: skip
def test_endpoints(subset: dict[str, Any], expected: list[str]) -> None:
    assert create(endpoints.RESOURCE, {"subsets": [subset]})[1] == expected


@pytest.mark.parametrize(
    ("subsets", "expected"),
    [
        ([], "<none>"),
        ([{"addresses": [{"ip": "1.1.1.1"}, {"ip": "fd00::1"}], "ports": [{"port": 80}]}], "1.1.1.1:80,[fd00::1]:80"),
        ([{"addresses": [{"ip": "fd00::1"}]}], "fd00::1"),
        ([{"addresses": [{"ip": f"1.1.1.{n}"} for n in range(4)], "ports": [{"port": 80}, {"port": 81}]}],
         "1.1.1.0:80,1.1.1.1:80,1.1.1.2:80 + 5 more..."),
    ],
)  # fmt: skip
def test_columns_of_endpoints(subsets: list[dict[str, Any]], expected: str) -> None:
    assert row(endpoints.RESOURCE, {"metadata": {"name": "x"}, "subsets": subsets})["Endpoints"] == expected


def test_replication_controller() -> None:
    resource = replicationcontroller.RESOURCE
    template = {"metadata": {"labels": {"a": "b"}}, "spec": POD}
    obj, errors = create(resource, {"spec": {"template": template}})
    assert errors == []
    assert obj["spec"]["selector"] == obj["metadata"]["labels"] == {"a": "b"} and obj["spec"]["replicas"] == 1
    assert obj["status"] == {"replicas": 0}
    assert row(resource, obj) == {
        "Name": "x", "Desired": 1, "Current": 0, "Ready": 0, "Containers": "a,b", "Images": "i,j", "Selector": "a=b",
    }  # fmt: skip
    assert update_status(resource, obj, {"replicas": 1, "readyReplicas": 1, "availableReplicas": 2})[1] == [
        "status.availableReplicas: Invalid value: 2: cannot be greater than status.replicas",
        "status.availableReplicas: Invalid value: 2: cannot be greater than readyReplicas",
    ]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, ["spec.selector: Required value", "spec.template: Required value"]),
        ({"selector": {"a": "c"}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": POD}},
         ['spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`']),
        ({"replicas": -1, "template": {"metadata": {"labels": {"a": "b"}}, "spec": POD}},
         ["spec.replicas: Invalid value: -1: must be greater than or equal to 0"]),
        ({"template": {"metadata": {"labels": {"a": "b"}}, "spec": {**POD, "restartPolicy": "Never"}}},
         ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"']),
    ],
)  # fmt: skip
def test_checks_of_replication_controllers(spec: dict[str, Any], expected: list[str]) -> None:
    assert create(replicationcontroller.RESOURCE, {"spec": spec})[1] == expected


def test_service_account() -> None:
    resource = serviceaccount.RESOURCE
    obj = create(resource, {"secrets": [{"name": "s", "kind": "Secret"}]})[0]
    assert obj["secrets"] == [{"name": "s"}]
    key = "kubernetes.io/enforce-mountable-secrets"
    annotated = create(resource, {"metadata": {"annotations": {key: "true"}}})[0]
    assert resource.warnings is not None
    assert resource.warnings(obj, None) == [] and len(resource.warnings(annotated, None)) == 1
    assert resource.warnings(annotated, annotated) == []
