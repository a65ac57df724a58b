"""Why workloads, autoscalers, claims and nodes are as they are."""

from typing import Any

import pytest

from pybernetes.client.refs import (
    HORIZONTAL_POD_AUTOSCALERS,
    LEASES,
    PERSISTENT_VOLUMES,
    PODS,
    RESOURCE_QUOTAS,
    STORAGE_CLASSES,
)
from pybernetes.tools.why.kinds import (
    daemonset,
    deployment,
    horizontalpodautoscaler,
    job,
    node,
    persistentvolumeclaim,
    replicaset,
    statefulset,
)
from pybernetes.tools.why.world import Question
from tests.tools.why.worlds import causes, is_true, obj, world

SELECTOR = {"selector": {"matchLabels": {"app": "web"}}}
READY = {"conditions": [is_true("Ready")]}
WAITS = obj("web-1", status={"phase": "Pending"}, labels={"app": "web"})
QUOTA_TEXT = 'pods "web-2" is forbidden: exceeded quota: small, requested: pods=1'
QUOTA = obj("small", status={"hard": {"pods": "1"}, "used": {"pods": "1"}})


def wanting(replicas: int, **more: Any) -> dict[str, Any]:
    return {**SELECTOR, "replicas": replicas, **more}


def failing(*conditions: Any) -> dict[str, Any]:
    return {"conditions": list(conditions)}


@pytest.mark.parametrize(
    ("question", "spec", "status", "events", "state", "expected"),
    [
        (deployment.WHY, wanting(2), {"readyReplicas": 2}, {}, "2 of 2 pods ready", ["1 pod is not ready: web-1"]),
        (deployment.WHY, wanting(0), {}, {}, "0 of 0 pods ready", ["1 pod is not", "asked to have no pods"]),
        (deployment.WHY, wanting(1, paused=True), {}, {}, "0 of 1 pods ready", ["paused", "1 pod is not"]),
        (deployment.WHY, wanting(1), failing(is_true("Progressing", "False", reason="ProgressDeadlineExceeded")), {}, "0 of 1 pods ready", ["rollout has stopped", "1 pod is not"]),
        (deployment.WHY, wanting(2), failing(is_true("ReplicaFailure", message=QUOTA_TEXT)), {}, "0 of 2 pods ready", ["quota of its namespace", "1 pod is not"]),
        (replicaset.WHY, wanting(2), {}, {"FailedCreate": 'violates PodSecurity "restricted:latest"'}, "0 of 2 pods ready", ["security standard", "1 pod is not"]),
        (replicaset.WHY, wanting(2), {}, {"FailedCreate": "webhook said no"}, "0 of 2 pods ready", ["pods are refused", "1 pod is not"]),
        (statefulset.WHY, wanting(3), {}, {}, "0 of 3 pods ready", ["1 pod is not"]),
        (daemonset.WHY, SELECTOR, {}, {}, "0 of 0 pods ready", ["No node is for it", "1 pod is not"]),
        (job.WHY, {**SELECTOR, "completions": 3, "suspend": True}, {"succeeded": 1}, {}, "1 of 3 done, 0 active, 0 failed", ["suspended", "1 pod is not"]),
        (job.WHY, {**SELECTOR, "completions": 3}, {"failed": 7, **failing(is_true("Failed", reason="BackoffLimitExceeded"))}, {}, "0 of 3 done, 0 active, 7 failed", ["has failed", "1 pod is not"]),
    ],
)  # fmt: skip
def test_workloads(
    question: Question, spec: Any, status: Any, events: Any, state: str, expected: list[str]
) -> None:
    around = world((PODS, [WAITS]), (RESOURCE_QUOTAS, [QUOTA]), events=events)
    found_state, findings = question.decide(obj("web", question.ref.kind, spec, status), around)
    titles = causes(findings)
    assert (found_state, len(titles)) == (state, len(expected)), titles
    for title, words in zip(titles, expected, strict=True):
        assert words in title


def test_the_quota_is_linked_with_its_figures() -> None:
    made = obj("web", "Deployment", wanting(2), failing(is_true("ReplicaFailure", message=QUOTA_TEXT)))
    (found, *_) = deployment.WHY.decide(made, world((RESOURCE_QUOTAS, [QUOTA, obj("other")])))[1]
    assert found.details == [QUOTA_TEXT, "small: pods 1 of 1"]
    assert [link.name for link in found.links] == ["small"]


def test_who_scaled_is_told() -> None:
    written = {"manager": "kubectl", "time": "2026-01-01T00:00:00Z", "subresource": "scale", "fieldsV1": {"f:spec": {"f:replicas": {}}}}  # fmt: skip
    made = obj("web", "Deployment", wanting(5), managedFields=[{"manager": "x", "fieldsV1": {}}, written])
    scaler = obj("auto", spec={"scaleTargetRef": {"kind": "Deployment", "name": "web"}})
    others = obj("none", spec={"scaleTargetRef": {"kind": "Deployment", "name": "db"}})
    findings = deployment.WHY.decide(made, world((HORIZONTAL_POD_AUTOSCALERS, [others, scaler])))[1]
    assert [found.title for found in findings] == [
        "The autoscaler auto decides how many pods there are.",
        "5 pods are asked for: kubectl wrote that at 2026-01-01T00:00:00Z (scale).",
    ]
    assert causes(findings) == []


def test_an_autoscaler() -> None:
    spec = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "minReplicas": 1, "maxReplicas": 3,
        "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 50}}}],
    }  # fmt: skip
    current = [{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 90}}}]
    conditions = [is_true("ScalingActive", "False", reason="FailedGetResourceMetric"), is_true("ScalingLimited", reason="TooManyReplicas")]  # fmt: skip
    status = {"currentReplicas": 3, "desiredReplicas": 3, "currentMetrics": current, "conditions": conditions}
    around = world(events={"SuccessfulRescale": "New size: 3; reason: cpu resource utilization above target"})
    state, findings = horizontalpodautoscaler.WHY.decide(obj("auto", spec=spec, status=status), around)
    assert state == "3 pods, 3 wanted"
    assert [title[:20] for title in causes(findings)] == ["It does not know how", "Its limits (1 to 3 p"]
    assert findings[-1].details == ["cpu: 90 %, wanted 50 %"]
    assert findings[-2].details == ["New size: 3; reason: cpu resource utilization above target"]
    assert findings[0].links[0].group == "apps"


LATE = {
    "metadata": {"name": "late"},
    "provisioner": "example.com/disk",
    "volumeBindingMode": "WaitForFirstConsumer",
}
NONE = {"metadata": {"name": "static"}, "provisioner": "kubernetes.io/no-provisioner"}
USER = obj("web", spec={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]})


@pytest.mark.parametrize(
    ("spec", "status", "pods", "events", "expected"),
    [
        ({"storageClassName": "late"}, {"phase": "Bound"}, [], {}, []),
        ({"storageClassName": "late", "volumeName": "v1"}, {"phase": "Lost"}, [], {}, ["Its volume v1 is gone"]),
        ({}, {}, [], {}, ["names no storage class"]),
        ({"storageClassName": "fast"}, {}, [], {}, ["storage class fast does not exist"]),
        ({"storageClassName": "late", "volumeName": "v1"}, {}, [], {}, ["volume v1, which does not exist"]),
        ({"storageClassName": "late"}, {}, [], {}, ["It waits for a pod that uses it"]),
        ({"storageClassName": "late"}, {}, [USER], {"ProvisioningFailed": "no space"}, ["waits for example.com/disk"]),
        ({"storageClassName": "static"}, {}, [USER], {}, ["makes no volumes"]),
    ],
)  # fmt: skip
def test_claims(spec: Any, status: Any, pods: Any, events: Any, expected: list[str]) -> None:
    around = world((STORAGE_CLASSES, [LATE, NONE]), (PERSISTENT_VOLUMES, []), (PODS, pods), events=events)
    _, findings = persistentvolumeclaim.WHY.decide(obj("data", spec=spec, status=status), around)
    assert len(findings) == len(expected)
    for found, words in zip(findings, expected, strict=True):
        assert words in found.title


def test_a_claim_that_is_deleted_and_used() -> None:
    claim = obj("data", deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["kubernetes.io/pvc-protection"])
    assert (
        "as long as pods use it" in persistentvolumeclaim.WHY.decide(claim, world((PODS, [USER])))[1][0].title
    )
    assert (
        "The finalizer kubernetes.io"
        in persistentvolumeclaim.WHY.decide(claim, world((PODS, [])))[1][0].title
    )


@pytest.mark.parametrize(
    ("spec", "conditions", "state", "expected"),
    [
        ({}, [is_true("Ready")], "Ready", []),
        ({"unschedulable": True}, [is_true("Ready")], "Ready, cordoned", ["cordoned"]),
        ({}, [is_true("Ready", "False", message="no network")], "NotReady", ["says that it is not ready"]),
        ({}, [is_true("Ready", "Unknown")], "unknown", ["not heard from"]),
        ({}, [is_true("Ready"), is_true("DiskPressure")], "Ready", ["short of disk"]),
        (
            {"taints": [{"key": "only", "value": "gpu", "effect": "NoSchedule"}]},
            [is_true("Ready")],
            "Ready",
            [],
        ),
    ],
)
def test_nodes(spec: Any, conditions: Any, state: str, expected: list[str]) -> None:
    lease = {"metadata": {"namespace": "kube-node-lease", "name": "n1"}, "spec": {"renewTime": "2026-01-01"}}
    found_state, findings = node.WHY.decide(obj("n1", spec=spec, status={"conditions": conditions}), world((LEASES, [lease])))  # fmt: skip
    titles = causes(findings)
    assert (found_state, len(titles)) == (state, len(expected)), titles
    for title, words in zip(titles, expected, strict=True):
        assert words in title
