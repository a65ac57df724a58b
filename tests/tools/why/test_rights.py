"""All that a user may do."""

from typing import Any

import pytest

from pybernetes.client.refs import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES
from pybernetes.tools.why import rights
from pybernetes.tools.why.access import User
from tests.tools.why.worlds import causes, obj, world

RULE = {"verbs": ["get", "list"], "apiGroups": ["", "apps"], "resources": ["pods"]}


def bound(name: str, kind: str, role: str, subject: str) -> dict[str, Any]:
    return {
        **obj(name),
        "roleRef": {"kind": kind, "name": role},
        "subjects": [{"kind": "User", "name": subject}],
    }


def test_roles_and_their_rules() -> None:
    around = world(
        (ROLES, [{**obj("reader"), "rules": [RULE]}]),
        (CLUSTER_ROLES, [{**obj("wide"), "rules": [{"verbs": ["*"], "nonResourceURLs": ["/metrics"]}]}]),
        (ROLE_BINDINGS, [bound("a", "Role", "reader", "jane"), bound("b", "Role", "gone", "jane"), bound("c", "Role", "reader", "bob")]),
        (CLUSTER_ROLE_BINDINGS, [bound("d", "ClusterRole", "wide", "jane")]),
    )  # fmt: skip
    answer = rights.decide(User("jane", ("system:masters",)), "shop", around)
    assert causes(answer.findings) == []
    assert [(finding.title, finding.details) for finding in answer.findings] == [
        ("jane may do everything: whoever is in system:masters may.", []),
        ("ClusterRole wide in the whole cluster:", ["*: /metrics"]),
        ("Role reader in shop:", ["get, list: pods, pods.apps"]),
        ("Role gone is bound, and does not exist.", []),
    ]


def test_who_may_not_read_roles_gets_what_the_server_tells() -> None:
    (finding,) = rights.decide(User("jane"), "shop", world(), [RULE]).findings
    assert finding.details == ["get, list: pods, pods.apps"]


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ({"verbs": ["get"], "apiGroups": [""], "resources": ["pods/log"], "resourceNames": ["web"]}, "get: pods/log (named web)"),
        ({"verbs": ["get"]}, "get: "),
        ({}, ": "),
    ],
)  # fmt: skip
def test_rules_as_texts(rule: Any, text: str) -> None:
    assert rights.rule_text(rule) == text
