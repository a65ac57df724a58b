"""The chain of the official page on authorization, and which questions its conditions send to the webhook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pybernetes.control_plane.apiserver.authz import configuration
from pybernetes.control_plane.apiserver.authz.webhook import match_conditions

CONDITIONS = (
    "has(request.resourceAttributes)",
    "request.resourceAttributes.namespace == 'kube-system'",
    "!('system:serviceaccounts:kube-system' in request.groups)",
)
IN_CLUSTER = {
    "authorizedTTL": "5m", "unauthorizedTTL": "30s", "timeout": "3s", "subjectAccessReviewVersion": "v1",
    "failurePolicy": "NoOpinion", "connectionInfo": {"type": "InClusterConfig"},
}  # fmt: skip


def load(directory: Path, *more: dict[str, Any]) -> list[configuration.AuthorizerSettings]:
    """Return the chain of the example, with more authorizers behind it."""
    kubeconfig = directory / "kube-system-authz-webhook.yaml"
    kubeconfig.write_text("")
    webhook = {
        "authorizedTTL": "30s", "cacheAuthorizedRequests": True, "unauthorizedTTL": "30s", "cacheUnauthorizedRequests": True,
        "timeout": "3s", "subjectAccessReviewVersion": "v1", "matchConditionSubjectAccessReviewVersion": "v1",
        "failurePolicy": "Deny", "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": str(kubeconfig)},
        "matchConditions": [{"expression": expression} for expression in CONDITIONS],
    }  # fmt: skip
    chain = [
        {"type": "Webhook", "name": "webhook", "webhook": webhook},
        {"type": "Node", "name": "node"},
        {"type": "RBAC", "name": "rbac"},
        *more,
    ]
    head = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthorizationConfiguration"}
    path = directory / "authorization.yaml"
    path.write_text(yaml.safe_dump({**head, "authorizers": chain}))
    return configuration.load(str(path), ("Node", "RBAC"))


def test_the_chain(tmp_path: Path) -> None:
    first, *others = load(tmp_path)
    assert [authorizer.type for authorizer in others] == ["Node", "RBAC"]
    webhook = first.webhook
    assert webhook is not None and webhook.denies
    assert (webhook.seconds, webhook.authorized_seconds, webhook.unauthorized_seconds) == (3, 30, 30)


def test_the_configuration_inside_of_a_cluster_is_not_for_this_server(tmp_path: Path) -> None:
    """The example has it, and says that kube-apiserver does not allow it."""
    with pytest.raises(ValueError, match=r"authorizers\[3\].*connectionInfo\.type: Forbidden"):
        load(tmp_path, {"type": "Webhook", "name": "in-cluster-authorizer", "webhook": IN_CLUSTER})


@pytest.mark.parametrize(
    ("question", "is_asked"),
    [
        ({"resourceAttributes": {"namespace": "kube-system", "verb": "get"}, "groups": ["a"]}, True),
        ({"resourceAttributes": {"namespace": "default", "verb": "get"}, "groups": ["a"]}, False),
        ({"resourceAttributes": {"namespace": "kube-system", "verb": "get"}, "groups": ["system:serviceaccounts:kube-system"]}, False),
        ({"nonResourceAttributes": {"path": "/metrics", "verb": "get"}, "groups": ["a"]}, False),
    ],
)  # fmt: skip
def test_conditions(question: dict[str, Any], is_asked: bool, tmp_path: Path) -> None:
    webhook = load(tmp_path)[0].webhook
    assert webhook is not None
    assert match_conditions.matches(webhook.conditions, question) is is_asked
