"""Which claims get a folder, and which folders may be removed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pybernetes.node.provisioner import plan

CLASS = {**plan.storage_class()}
IMMEDIATE = {**CLASS, "volumeBindingMode": "Immediate"}


def _claim(annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    meta = {"name": "data", "namespace": "x", "uid": "u1", "resourceVersion": "7"}
    annotated = {plan.PROVISIONER_ANNOTATIONS[0]: plan.NAME, **(annotations or {})}
    base = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {
        "metadata": {**meta, "annotations": annotated},
        "spec": {**base, "storageClassName": "standard", **spec},
    }


@pytest.mark.parametrize(
    ("claim", "chosen", "expected"),
    [
        (_claim(), CLASS, False),  # no pod needs it yet
        (_claim({plan.SELECTED_NODE: "n"}), CLASS, True),
        (_claim(), IMMEDIATE, True),
        (_claim(), None, False),
        (_claim(), {**IMMEDIATE, "provisioner": "example.com/other"}, False),
        (_claim({plan.PROVISIONER_ANNOTATIONS[0]: "example.com/other"}), IMMEDIATE, False),
        (_claim(volumeName="v"), IMMEDIATE, False),
    ],
)
def test_who_wants_a_volume(claim: dict[str, Any], chosen: dict[str, Any] | None, expected: bool) -> None:
    assert plan.wants_volume(claim, chosen) is expected


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({}, ""),
        ({"volumeMode": "Block"}, "block volumes"),
        ({"selector": {"matchLabels": {"a": "b"}}}, "claim.spec.selector"),
        ({"dataSource": {"kind": "VolumeSnapshot", "name": "s"}}, "dataSource"),
    ],
)
def test_claims_that_cannot_be_met(spec: dict[str, Any], words: str) -> None:
    problem = plan.problem(_claim(**spec), CLASS)
    assert words in problem and bool(problem) is bool(words)


def test_a_volume_stays_where_its_pod_is() -> None:
    volume = plan.volume(_claim(), CLASS, plan.folder(_claim(), Path("/v")), "host")
    assert volume["metadata"]["name"] == "pvc-u1" and volume["spec"]["hostPath"]["path"] == "/v/pvc-u1_x_data"
    (term,) = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert term["matchExpressions"][0]["values"] == ["host"]
    assert "nodeAffinity" not in plan.volume(_claim(), CLASS, Path("/v/x"), "")["spec"]


@pytest.mark.parametrize(
    ("phase", "policy", "deleted", "expected"),
    [
        ("Released", "Delete", False, True),
        ("Released", "Retain", False, False),
        ("Bound", "Delete", False, False),
        ("Bound", "Delete", True, False),
        ("Available", "Delete", True, True),
    ],
)
def test_what_may_be_removed(phase: str, policy: str, deleted: bool, expected: bool) -> None:
    volume = plan.volume(_claim(), {**CLASS, "reclaimPolicy": policy}, Path("/v/pvc-u1_x_data"), "")
    volume["status"] = {"phase": phase}
    if deleted:
        volume["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert plan.may_be_removed(volume) is expected
    assert plan.own_folder(volume, Path("/v")) == Path("/v/pvc-u1_x_data")
    assert plan.own_folder(volume, Path("/w")) is None
    volume["metadata"]["annotations"] = {}
    assert plan.may_be_removed(volume) is False
