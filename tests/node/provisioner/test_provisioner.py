"""A cluster where claims get folders and give them back."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import yaml

from pybernetes.node.provisioner import plan
from tests.support import require_program, until
from tests.tools.local.user import User

NAME = f"folders-{os.getpid()}"


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
        return (
            sorted(folder.name.partition("_")[2] for folder in volumes.iterdir()) if volumes.exists() else []
        )

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
            volume["spec"]["claimRef"]["name"]: volume
            for volume in json.loads(user.kubectl("get", "pv", "-o", "json"))["items"]
        }
        terms = listed["data"]["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
        assert terms[0]["matchExpressions"][0]["values"] == ["hollow-0"]
        assert "nodeAffinity" not in listed["at-once"]["spec"]
        user.kubectl("delete", "pod/user", "pvc/data", "pvc/at-once")
        user.kubectl("wait", "--for=delete", f"pv/{listed['data']['metadata']['name']}", "--timeout=60s")
        until(lambda: folders() == ["default_at-once"])  # this one is kept, as its class says
        user.until("Released", "get", "pv")
    finally:
        user.pyb("delete", NAME)
