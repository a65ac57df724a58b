from __future__ import annotations

from typing import Any

import pytest

from pybernetes.client.refs import CONFIG_MAPS, NAMESPACES, PODS, SERVICE_ACCOUNTS, SERVICES, Ref
from pybernetes.control_plane.federation.type_config import for_target
from pybernetes.tools.federation import federating
from pybernetes.tools.federation.resources import Resource


@pytest.mark.parametrize(
    ("kind", "obj", "template"),
    [
        (
            CONFIG_MAPS,
            {"metadata": {"name": "x", "namespace": "n", "uid": "u", "labels": {"a": "b"}, "annotations": {"c": "d"}}, "data": {"k": "v"}},
            {"metadata": {"labels": {"a": "b"}}, "data": {"k": "v"}},
        ),
        (
            SERVICES,
            {"metadata": {"name": "x", "namespace": "n"}, "spec": {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "ports": [{"port": 1, "nodePort": 30000}]}, "status": {}},
            {"spec": {"ports": [{"port": 1}]}},
        ),
        (
            SERVICES,
            {"metadata": {"name": "x", "namespace": "n"}, "spec": {"clusterIP": "None", "clusterIPs": ["None"]}},
            {"spec": {"clusterIP": "None", "clusterIPs": ["None"]}},
        ),
        (NAMESPACES, {"metadata": {"name": "x", "labels": {"kubernetes.io/metadata.name": "x"}}, "spec": {"finalizers": ["kubernetes"]}}, {}),
        (SERVICE_ACCOUNTS, {"metadata": {"name": "x", "namespace": "n"}, "secrets": [{"name": "t"}]}, {}),
    ],
)  # fmt: skip
def test_templates_have_what_somebody_wanted(
    kind: Ref, obj: dict[str, Any], template: dict[str, Any]
) -> None:
    made = federating.federated_object(for_target(kind), obj)
    assert made["spec"] == {"template": template, "placement": {"clusterSelector": {"matchLabels": {}}}}
    assert made["metadata"]["namespace"] == ("x" if kind is NAMESPACES else "n")
    assert made["kind"] == f"Federated{kind.kind}"


ALL = ("list", "create", "get")


@pytest.mark.parametrize(
    ("ref", "skipped", "verbs", "expected"),
    [
        (CONFIG_MAPS, "", ALL, False),
        (CONFIG_MAPS, "cm", ALL, True),
        (CONFIG_MAPS, "secrets,configmaps", ALL, True),
        (Ref("apps", "v1", "deployments", "Deployment"), "apps", ALL, True),
        (CONFIG_MAPS, "", ("list",), True),
        (PODS, "", ALL, True),
        (NAMESPACES, "", ALL, True),
        (Ref("types.kubefed.io", "v1beta1", "federatedsecrets", "FederatedSecret"), "", ALL, True),
        (Ref("core.kubefed.io", "v1alpha1", "propagatedversions", "PropagatedVersion"), "", ALL, True),
    ],
)
def test_contents(ref: Ref, skipped: str, verbs: tuple[str, ...], expected: bool) -> None:
    assert federating.is_skipped(Resource(ref, "", ("cm",), verbs), skipped.split(",")) is expected


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        ({"kind": "ConfigMap", "metadata": {"name": "mine"}}, False),
        ({"kind": "ConfigMap", "metadata": {"name": "kube-root-ca.crt"}}, True),
        ({"kind": "ServiceAccount", "metadata": {"name": "default"}}, True),
        ({"kind": "Job", "metadata": {"name": "x", "ownerReferences": [{"controller": True}]}}, True),
        ({"kind": "Secret", "metadata": {"name": "x"}, "type": "kubernetes.io/service-account-token"}, True),
    ],
)
def test_what_clusters_make_themselves_is_left_out(obj: dict[str, Any], expected: bool) -> None:
    assert federating.is_made_by_a_controller(obj) is expected
