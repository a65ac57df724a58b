"""Why workloads are as they are: what all kinds of them have in common."""

from typing import Any

import pytest

from pybernetes.client.refs import (
    HORIZONTAL_POD_AUTOSCALERS,
    PODS,
    RESOURCE_QUOTAS,
)
from pybernetes.tools.why.kinds import (
    daemonset,
    deployment,
    job,
    replicaset,
    statefulset,
)
from pybernetes.tools.why.world import Question
from tests.tools.why.worlds import causes, is_true, obj, world

SELECTOR = {"selector": {"matchLabels": {"app": "web"}}}
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
    (finding, *_) = deployment.WHY.decide(made, world((RESOURCE_QUOTAS, [QUOTA, obj("other")])))[1]
    assert finding.details == [QUOTA_TEXT, "small: pods 1 of 1"]
    assert [link.name for link in finding.links] == ["small"]


def test_who_scaled_is_told() -> None:
    written = {"manager": "kubectl", "time": "2026-01-01T00:00:00Z", "subresource": "scale", "fieldsV1": {"f:spec": {"f:replicas": {}}}}  # fmt: skip
    made = obj("web", "Deployment", wanting(5), managedFields=[{"manager": "x", "fieldsV1": {}}, written])
    scaler = obj("auto", spec={"scaleTargetRef": {"kind": "Deployment", "name": "web"}})
    others = obj("none", spec={"scaleTargetRef": {"kind": "Deployment", "name": "db"}})
    findings = deployment.WHY.decide(made, world((HORIZONTAL_POD_AUTOSCALERS, [others, scaler])))[1]
    assert [finding.title for finding in findings] == [
        "The autoscaler auto decides how many pods there are.",
        "5 pods are asked for: kubectl wrote that at 2026-01-01T00:00:00Z (scale).",
    ]
    assert causes(findings) == []
