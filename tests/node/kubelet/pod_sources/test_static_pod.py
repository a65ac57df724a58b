"""The pods of manifests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pybernetes.node.kubelet.pod_sources import static_pod
from pybernetes.node.kubelet.pod_sources.static_pod import parse_static_pod


def test_static_pods() -> None:
    text = "kind: Pod\nmetadata: {name: s}\nspec: {containers: [{name: c, image: i}]}"
    static = parse_static_pod(text, Path("/m/s.yaml"), "Node1", "now")
    meta = static["metadata"]
    assert (meta["name"], meta["namespace"], static["spec"]["nodeName"]) == ("s-node1", "default", "Node1")
    assert meta["annotations"]["kubernetes.io/config.hash"] == meta["uid"]
    assert parse_static_pod(text, Path("/m/s.yaml"), "Node1", "later")["metadata"]["uid"] == meta["uid"]
    for bad in ("kind: Service", "- a", "kind: Pod\nmetadata: {}\nspec: {}", "a: ]"):
        with pytest.raises(ValueError):
            parse_static_pod(bad, Path("/m/s.yaml"), "n", "now")


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ({}, ""),
        ({"serviceAccountName": "x"}, "serviceaccounts"),
        ({"imagePullSecrets": [{"name": "x"}]}, "secrets"),
        ({"containers": [{"env": [{"name": "A", "valueFrom": {"secretKeyRef": {}}}]}]}, "secrets"),
        ({"containers": [{"env": [{"name": "A", "valueFrom": {"fieldRef": {}}}]}]}, ""),
        ({"initContainers": [{"envFrom": [{"configMapRef": {"name": "x"}}]}]}, "configmaps"),
        ({"volumes": [{"name": "v", "configMap": {"name": "x"}}]}, "configmaps (via configmap volumes)"),
        ({"volumes": [{"name": "v", "hostPath": {"path": "/"}}, {"name": "e", "emptyDir": {}}]}, ""),
        ({"volumes": [{"name": "v", "projected": {"sources": [{"downwardAPI": {}}]}}]}, ""),
        ({"volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {}}]}}]}, "serviceaccounts (via projected volumes)"),
        ({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "x"}}]}, "persistentvolumeclaims"),
    ],
)  # fmt: skip
def test_what_static_pods_need_of_the_api(spec: dict[str, Any], kind: str) -> None:
    assert static_pod.api_reference(spec) == kind
