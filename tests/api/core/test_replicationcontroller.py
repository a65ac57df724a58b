"""ReplicationController."""

import pytest

from pybernetes.api.core import replicationcontroller
from pybernetes.api.resource import Object
from tests.api.writes import create, row_by_name, update_status

POD = {"containers": [{"name": "a", "image": "i"}, {"name": "b", "image": "j"}]}


def test_replication_controller() -> None:
    resource = replicationcontroller.RESOURCE
    template = {"metadata": {"labels": {"a": "b"}}, "spec": POD}
    obj, errors = create(resource, {"spec": {"template": template}})
    assert errors == []
    assert obj["spec"]["selector"] == obj["metadata"]["labels"] == {"a": "b"} and obj["spec"]["replicas"] == 1
    assert obj["status"] == {"replicas": 0}
    assert row_by_name(resource, obj) == {
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
def test_checks_of_replication_controllers(spec: Object, expected: list[str]) -> None:
    assert create(replicationcontroller.RESOURCE, {"spec": spec})[1] == expected
