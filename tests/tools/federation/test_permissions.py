from __future__ import annotations

import pytest

from pybernetes.client.refs import (
    CLUSTER_ROLES,
    CONFIG_MAPS,
    DEPLOYMENTS,
    NAMESPACES,
    REPLICA_SETS,
    ROLE_BINDINGS,
    Ref,
)
from pybernetes.control_plane.federation.type_config import for_target
from pybernetes.tools.federation import permissions


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        ((), set()),
        ((CONFIG_MAPS,), {("", "configmaps", "write")}),
        ((DEPLOYMENTS, REPLICA_SETS), {("apps", "deployments", "write"), ("apps", "replicasets", "write"), ("", "pods", "list")}),
        ((CLUSTER_ROLES,), {("rbac.authorization.k8s.io", "clusterroles", "write"), ("rbac.authorization.k8s.io", "clusterroles", "escalate")}),
        (
            (ROLE_BINDINGS,),
            {
                ("rbac.authorization.k8s.io", "rolebindings", "write"),
                ("rbac.authorization.k8s.io", "roles", "bind"),
                ("rbac.authorization.k8s.io", "clusterroles", "bind"),
            },
        ),
    ],
)  # fmt: skip
def test_rights_follow_from_the_kinds(targets: tuple[Ref, ...], expected: set[tuple[str, str, str]]) -> None:
    granted = permissions.rules(map(for_target, targets))
    assert {
        (rule["apiGroups"][0], resource, "write" if "update" in rule["verbs"] else rule["verbs"][0])
        for rule in granted
        for resource in rule["resources"]
    } == expected
    assert not any("*" in rule[field] for rule in granted for field in ("apiGroups", "resources", "verbs"))


@pytest.mark.parametrize("one_namespace", [True, False])
def test_one_namespace_needs_no_rights_elsewhere(one_namespace: bool) -> None:
    types = [for_target(CONFIG_MAPS), for_target(NAMESPACES)]
    made = permissions.objects("one-host", "fed", types, one_namespace=one_namespace)
    whole = [obj for kind, obj in made if kind is CLUSTER_ROLES]
    plain = [rule for obj in whole for rule in obj["rules"] if rule.get("resources") == ["configmaps"]]
    assert bool(plain) is not one_namespace
    tokens = [
        rule
        for _, obj in made
        for rule in obj.get("rules", ())
        if rule.get("resources") == ["serviceaccounts/token"]
    ]
    assert [rule["resourceNames"] for rule in tokens] == [["one-host"]]
