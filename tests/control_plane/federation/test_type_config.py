from __future__ import annotations

from typing import Any

import pytest

from pybernetes.client.refs import CLUSTER_ROLES, DEPLOYMENTS, NAMESPACES, NETWORK_POLICIES, Ref
from pybernetes.control_plane.federation import type_config


@pytest.mark.parametrize("target", [DEPLOYMENTS, NAMESPACES, CLUSTER_ROLES, NETWORK_POLICIES])
def test_what_is_written_is_read(target: Ref) -> None:
    config = type_config.for_target(target)
    obj = type_config.to_object(config, "kube-federation-system")
    assert type_config.read(obj) == config
    assert obj["spec"]["federatedType"]["kind"] == f"Federated{target.kind}"
    assert config.federated.namespaced == (target.namespaced or target is NAMESPACES)


def test_what_is_left_out_follows_from_the_name() -> None:
    obj = {
        "metadata": {"name": "deployments.apps"},
        "spec": {
            "targetType": {"kind": "Deployment", "version": "v1", "scope": "Namespaced"},
            "federatedType": {"kind": "FederatedDeployment", "group": "types.kubefed.io", "version": "v1beta1", "scope": "Namespaced"},
            "propagation": "Disabled",
            "statusCollection": "Enabled",
        },
    }  # fmt: skip
    config = type_config.read(obj)
    assert config.target == DEPLOYMENTS
    assert config.federated.plural == "federateddeployments"
    assert not config.propagates and config.collects_status


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({}, "spec.targetType.kind: Required value"),
        ({"targetType": {"kind": "A"}}, "spec.targetType.version: Required value"),
        (
            {"targetType": {"kind": "A", "version": "v1", "scope": "Cluster"}, "federatedType": {"kind": "B", "version": "v1", "scope": "Namespaced"}},
            "spec.federatedType.scope",
        ),
        ({"targetType": {"kind": "A", "version": "v1", "group": "other.com"}}, "name: must be 'TARGET_PLURAL_NAME"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_names_the_field(spec: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        type_config.read({"metadata": {"name": "as.example.com"}, "spec": spec})


@pytest.mark.parametrize(
    ("kind", "plural"),
    [
        ("Deployment", "deployments"),
        ("Ingress", "ingresses"),
        ("NetworkPolicy", "networkpolicies"),
        ("Box", "boxes"),
    ],
)
def test_plurals(kind: str, plural: str) -> None:
    assert type_config.plural_of(kind) == plural
