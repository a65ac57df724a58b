"""Pod: what writes set, keep and drop."""

from __future__ import annotations

import copy

import pytest

from pybernetes.api.core.pod.pod import RESOURCE
from pybernetes.api.resource import Object
from tests.api.core.pod.pods import CONTAINER, make


@pytest.mark.parametrize(
    ("spec", "quality"),
    [
        ({}, "BestEffort"),
        ({"containers": [{**CONTAINER, "resources": {"requests": {"cpu": "1"}}}]}, "Burstable"),
        ({"containers": [{**CONTAINER, "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}]}, "Guaranteed"),
        ({"containers": [{**CONTAINER, "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}, CONTAINER]},
         "Burstable"),
        ({"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}, "Guaranteed"),
    ],
)  # fmt: skip
def test_first_status(spec: Object, quality: str) -> None:
    assert make(**spec)["status"] == {"phase": "Pending", "qosClass": quality}


def test_gated_pods_say_so() -> None:
    condition = make(schedulingGates=[{"name": "x"}])["status"]["conditions"][0]
    assert (condition["type"], condition["status"], condition["reason"]) == (
        "PodScheduled", "False", "SchedulingGated",
    )  # fmt: skip


def test_label_keys_are_folded_into_selectors() -> None:
    term = {
        "topologyKey": "k",
        "labelSelector": {},
        "matchLabelKeys": ["l"],
        "mismatchLabelKeys": ["m", "none"],
    }
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    pod = make({"labels": {"l": "1", "m": "2"}}, affinity={"podAffinity": {required: [term]}})
    assert pod["spec"]["affinity"]["podAffinity"][required][0]["labelSelector"]["matchExpressions"] == [
        {"key": "l", "operator": "In", "values": ["1"]},
        {"key": "m", "operator": "NotIn", "values": ["2"]},
    ]


def test_old_annotations_become_fields() -> None:
    key = "container.apparmor.security.beta.kubernetes.io/a"
    pod = make({"annotations": {key: "localhost/x", "pod.beta.kubernetes.io/init-containers": "[]"}})
    assert pod["metadata"]["annotations"] == {key: "localhost/x"}
    assert pod["spec"]["containers"][0]["securityContext"] == {
        "appArmorProfile": {"type": "Localhost", "localhostProfile": "x"}
    }


def test_fields_of_features_that_are_off_are_dropped() -> None:
    pod = make(
        containers=[{**CONTAINER, "lifecycle": {"stopSignal": "SIGTERM"},
                     "volumeMounts": [{"name": "v", "mountPath": "/v", "bindMountOptions": ["noexec"]}]}],
        volumes=[{"name": "v", "emptyDir": {"mode": 511}}],
        schedulingGroup={"podGroupName": "g"},
    )  # fmt: skip
    assert "lifecycle" not in pod["spec"]["containers"][0]
    assert pod["spec"]["containers"][0]["volumeMounts"] == [{"name": "v", "mountPath": "/v"}]
    assert pod["spec"]["volumes"] == [{"name": "v", "emptyDir": {}}]
    assert "schedulingGroup" not in pod["spec"]


def test_a_status_write_cannot_forget() -> None:
    old = make({"ownerReferences": [{"uid": "u"}]})
    old["status"] |= {
        "observedGeneration": 3,
        "conditions": [{"type": "Ready", "observedGeneration": 2}],
        "resourceClaimStatuses": [{"name": "c"}],
    }
    new = {**copy.deepcopy(old), "metadata": {"name": "p"}, "status": {"conditions": [{"type": "Ready"}]}}
    assert RESOURCE.prepare_status_update
    RESOURCE.prepare_status_update(new, old)
    assert new["metadata"]["ownerReferences"] == [{"uid": "u"}]
    assert new["status"] == {
        "conditions": [{"type": "Ready", "observedGeneration": 2}],
        "qosClass": "BestEffort",
        "observedGeneration": 3,
        "resourceClaimStatuses": [{"name": "c"}],
    }
