"""What Deployment, ReplicaSet, StatefulSet and DaemonSet have in common."""

from typing import Any

import pytest

from pybernetes.api.apps import daemonset, deployment, replicaset, statefulset
from pybernetes.api.resource import Object, Resource
from tests.api.apps.workloads import LABELS, template, workload
from tests.api.writes import create_errors, created, row, status_errors, update_errors

DEPLOYMENT, REPLICA_SET = deployment.RESOURCE, replicaset.RESOURCE
STATEFUL_SET, DAEMON_SET = statefulset.RESOURCE, daemonset.RESOURCE
ALL = (DEPLOYMENT, REPLICA_SET, STATEFUL_SET, DAEMON_SET)
COUNTED = (DEPLOYMENT, REPLICA_SET, STATEFUL_SET)
every = pytest.mark.parametrize("resource", ALL, ids=lambda resource: resource.kind)
counted = pytest.mark.parametrize("resource", COUNTED, ids=lambda resource: resource.kind)
NO_MATCH = "`selector` does not match template `labels`"


@every
def test_valid(resource: Resource) -> None:
    obj = created(resource, workload())
    assert obj["metadata"]["generation"] == 1
    assert obj["spec"]["template"]["spec"]["restartPolicy"] == "Always"


@every
def test_selector_must_match(resource: Resource) -> None:
    assert create_errors(resource, workload(template=template({"app": "db"}))) == [
        f'spec.template.metadata.labels: Invalid value: {{"app":"db"}}: {NO_MATCH}'
    ]


@pytest.mark.parametrize(
    ("resource", "name"),
    [
        (DEPLOYMENT, "deployment"),
        (REPLICA_SET, "deployment"),
        (STATEFUL_SET, "statefulset"),
        (DAEMON_SET, "daemonset"),
    ],
)
def test_empty_selector(resource: Resource, name: str) -> None:
    assert create_errors(resource, workload(selector={})) == [
        f"spec.selector: Invalid value: {{}}: empty selector is invalid for {name}"
    ]


@every
def test_no_selector(resource: Resource) -> None:
    required = [] if resource is DAEMON_SET else ["spec.selector: Required value"]
    assert create_errors(resource, workload(selector=None)) == [
        *required,
        f'spec.template.metadata.labels: Invalid value: {{"app":"web"}}: {NO_MATCH}',
    ]


@every
def test_pods_that_end(resource: Resource) -> None:
    kind = "ReplicaSet" if resource is DEPLOYMENT else resource.kind
    messages = create_errors(
        resource, workload(template=template(restartPolicy="Never", activeDeadlineSeconds=5))
    )
    path = "spec.template.spec"
    assert messages == [
        f'{path}.restartPolicy: Unsupported value: "Never": supported values: "Always"',
        f"{path}.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in {kind} is not Supported",
    ]


@every
def test_selector_is_immutable(resource: Resource) -> None:
    selector = {"matchExpressions": [{"key": "app", "operator": "Exists"}], **LABELS}
    assert update_errors(resource, workload(), workload(selector=selector)) == [
        'spec.selector: Invalid value: {"matchLabels":{"app":"web"},"matchExpressions":[{"key":"app",'
        '"operator":"Exists"}]}: field is immutable'
    ]


@counted
def test_negative_counts(resource: Resource) -> None:
    assert create_errors(resource, workload(replicas=-1, minReadySeconds=-2)) == [
        "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
        "spec.minReadySeconds: Invalid value: -2: must be greater than or equal to 0",
    ]


@counted
def test_status_counts(resource: Resource) -> None:
    status = {"replicas": 1, "readyReplicas": 2, "availableReplicas": 3}
    name = "status.readyReplicas" if resource is STATEFUL_SET else "readyReplicas"
    assert status_errors(resource, workload(), status) == [
        "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas",
        "status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas",
        f"status.availableReplicas: Invalid value: 3: cannot be greater than {name}",
    ]


@pytest.mark.parametrize(
    "resource", [DEPLOYMENT, STATEFUL_SET, DAEMON_SET], ids=lambda resource: resource.kind
)
def test_collisions_do_not_go_back(resource: Resource) -> None:
    text = "cannot be decremented"
    assert status_errors(resource, workload(), {"collisionCount": 1}, old={"collisionCount": 2}) == [
        f"status.collisionCount: Invalid value: 1: {text}"
    ]
    assert status_errors(resource, workload(), {}, old={"collisionCount": 2}) == [
        f"status.collisionCount: Invalid value: 0: {text}"
    ]


@pytest.mark.parametrize(
    ("resource", "status", "expected"),
    [
        (
            DEPLOYMENT,
            {"readyReplicas": 1, "updatedReplicas": 3, "availableReplicas": 4},
            ["name", "1/2", 3, 4, "c", "i", "app=web"],
        ),
        (REPLICA_SET, {"replicas": 3, "readyReplicas": 1}, ["name", 2, 3, 1, "c", "i", "app=web"]),
        (STATEFUL_SET, {"readyReplicas": 1}, ["name", "1/2", "c", "i"]),
        (
            DAEMON_SET,
            {
                "desiredNumberScheduled": 5,
                "currentNumberScheduled": 4,
                "numberReady": 3,
                "updatedNumberScheduled": 2,
            },
            ["name", 5, 4, 3, 2, 0, "<none>", "c", "i", "app=web"],
        ),
    ],
)
def test_columns(resource: Resource, status: Object, expected: list[Any]) -> None:
    assert row(resource, workload(replicas=2) | {"status": status}) == expected


@pytest.mark.parametrize("resource", [DEPLOYMENT, REPLICA_SET], ids=lambda resource: resource.kind)
def test_name_warning(resource: Resource) -> None:
    obj = created(resource, workload() | {"metadata": {"name": "a.b"}})
    assert resource.warnings
    assert resource.warnings(obj, None) == [
        "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; "
        "a DNS label is recommended: [must not contain dots]"
    ]
    assert resource.warnings(obj, obj) == []
