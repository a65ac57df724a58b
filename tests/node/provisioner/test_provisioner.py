"""Folders for claims: what is decided, and a cluster where claims get them and give them back."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from pybernetes.node.provisioner import plan
from tests.support import require_program
from tests.tools.local.user import User

NAME = f"folders-{os.getpid()}"
CLASS = {**plan.storage_class()}
IMMEDIATE = {**CLASS, "volumeBindingMode": "Immediate"}


def _claim(annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    meta = {"name": "data", "namespace": "x", "uid": "u1", "resourceVersion": "7"}
    asked = {plan.ASKED[0]: plan.NAME, **(annotations or {})}
    base = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {
        "metadata": {**meta, "annotations": asked},
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
        (_claim({plan.ASKED[0]: "example.com/other"}), IMMEDIATE, False),
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
    found = plan.problem(_claim(**spec), CLASS)
    assert words in found and bool(found) is bool(words)


def test_a_volume_stays_where_its_pod_is() -> None:
    volume = plan.volume(_claim(), CLASS, plan.folder(_claim(), Path("/v")), "host")
    assert volume["metadata"]["name"] == "pvc-u1" and volume["spec"]["hostPath"]["path"] == "/v/pvc-u1_x_data"
    (term,) = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert term["matchExpressions"][0]["values"] == ["host"]
    assert "nodeAffinity" not in plan.volume(_claim(), CLASS, Path("/v/x"), "")["spec"]


@pytest.mark.parametrize(
    ("phase", "policy", "going", "expected"),
    [
        ("Released", "Delete", False, True),
        ("Released", "Retain", False, False),
        ("Bound", "Delete", False, False),
        ("Bound", "Delete", True, False),
        ("Available", "Delete", True, True),
    ],
)
def test_what_may_go(phase: str, policy: str, going: bool, expected: bool) -> None:
    volume = plan.volume(_claim(), {**CLASS, "reclaimPolicy": policy}, Path("/v/pvc-u1_x_data"), "")
    volume["status"] = {"phase": phase}
    if going:
        volume["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert plan.may_go(volume) is expected
    assert plan.own_folder(volume, Path("/v")) == Path("/v/pvc-u1_x_data")
    assert plan.own_folder(volume, Path("/w")) is None
    volume["metadata"]["annotations"] = {}
    assert plan.may_go(volume) is False


@pytest.mark.slow
@pytest.mark.e2e
def test_claims_get_folders_and_give_them_back(tmp_path: Path) -> None:
    require_program("kubectl")
    user = User(tmp_path)
    volumes = tmp_path / "state" / "clusters" / NAME / "volumes"
    objects = [
        {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "at-once"},
         "provisioner": plan.NAME, "reclaimPolicy": "Retain"},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "at-once"},
         "spec": {"storageClassName": "at-once", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"},
         "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "user"},
         "spec": {"terminationGracePeriodSeconds": 0, "containers": [{"name": "c", "image": "example.com/c"}],
                  "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}},
    ]  # fmt: skip
    manifest = tmp_path / "objects.yaml"
    manifest.write_text(yaml.safe_dump_all(objects))

    def folders() -> list[str]:
        return sorted(each.name.partition("_")[2] for each in volumes.iterdir()) if volumes.exists() else []

    try:
        user.pyb("up", NAME, "--hollow", "1")
        user.until("standard (default)", "get", "storageclass")
        user.until("default", "get", "serviceaccounts")
        user.kubectl("apply", "-f", str(manifest))
        user.kubectl(
            "wait", "--for=jsonpath={.status.phase}=Bound", "pvc", "data", "at-once", "--timeout=60s"
        )
        user.kubectl("wait", "--for=condition=Ready", "pod/user", "--timeout=60s")
        assert folders() == ["default_at-once", "default_data"]
        listed = {
            each["spec"]["claimRef"]["name"]: each
            for each in json.loads(user.kubectl("get", "pv", "-o", "json"))["items"]
        }
        terms = listed["data"]["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
        assert terms[0]["matchExpressions"][0]["values"] == ["hollow-0"]
        assert "nodeAffinity" not in listed["at-once"]["spec"]
        user.kubectl("delete", "pod/user", "pvc/data", "pvc/at-once")
        user.kubectl("wait", "--for=delete", f"pv/{listed['data']['metadata']['name']}", "--timeout=60s")
        deadline = time.monotonic() + 60
        while folders() != ["default_at-once"]:  # this one is kept, as its class says
            assert time.monotonic() < deadline, folders()
            time.sleep(0.05)
        user.until("Released", "get", "pv")
    finally:
        user.pyb("delete", NAME)
