"""Why somebody may not: the rule that is needed, and who has it."""

from typing import Any

import pytest

from pybernetes.client.refs import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES
from pybernetes.tools.why import access
from pybernetes.tools.why.access import User, Wish
from tests.tools.why.worlds import causes, obj, world

JANE = User("jane", ("developers",))
CREATE = Wish("create", "deployments", "apps", "", "shop")


def role(name: str, verbs: list[str], resources: list[str], group: str = "apps") -> dict[str, Any]:
    return {**obj(name), "rules": [{"verbs": verbs, "apiGroups": [group], "resources": resources}]}


def binding(name: str, kind: str, subject: str, **more: str) -> dict[str, Any]:
    return {**obj(name), "roleRef": {"kind": "Role", "name": f"{name}-role"}, "subjects": [{"kind": kind, "name": subject, **more}]}  # fmt: skip


ROLES_HERE = [
    role("reader", ["get"], ["deployments"]),
    role("all", ["*"], ["*"], "*"),
    role("maker", ["create"], ["deployments"]),
]
BINDINGS = [
    binding("own", "User", "jane"),
    binding("group", "Group", "developers"),
    binding("other", "User", "bob"),
    binding("robot", "ServiceAccount", "robot"),
]
AROUND: Any = (
    (ROLES, ROLES_HERE[:1]), (CLUSTER_ROLES, ROLES_HERE[1:]), (ROLE_BINDINGS, BINDINGS), (CLUSTER_ROLE_BINDINGS, []),
)  # fmt: skip


def test_the_rule_that_is_needed_and_the_least_role_that_has_it() -> None:
    answer = access.decide(JANE, CREATE, {"allowed": False, "reason": "RBAC: none"}, world(*AROUND))
    assert answer.state == "may not create deployments.apps in shop"
    assert causes(answer.findings) == ["jane may not create deployments.apps in shop."]
    assert (
        "apiGroups: ['apps'], resources: ['deployments'], verbs: ['create']" in answer.findings[0].details[0]
    )
    assert answer.findings[0].details[1] == "RBAC: none"
    assert "the least first: ClusterRole maker." in answer.findings[1].title
    expected = "kubectl create rolebinding NAME --clusterrole=maker --user=jane -n shop"
    assert answer.findings[1].command == expected
    assert "Role group-role, Role own-role" in answer.findings[2].title


def test_no_role_has_it() -> None:
    wish = Wish("get", "pods", "", "log", "shop", "web")
    answer = access.decide(
        User("system:serviceaccount:shop:robot"), wish, {}, world((CLUSTER_ROLES, []), *AROUND[2:])
    )
    assert answer.findings[1].command == "kubectl create role NAME --verb=get --resource=pods/log --resource-name=web -n shop"  # fmt: skip
    assert "robot-role" in answer.findings[2].title


def test_nobody_is_told_to_bind_everything() -> None:
    answer = access.decide(JANE, CREATE, {}, world((CLUSTER_ROLES, [ROLES_HERE[1], role("system:controller:x", ["create"], ["deployments"])])))  # fmt: skip
    assert answer.findings[1].title == "No role for people has that rule (but all, which has everything)."
    assert (
        answer.findings[1].command
        == "kubectl create role NAME --verb=create --resource=deployments.apps -n shop"
    )


def test_it_is_allowed() -> None:
    answer = access.decide(JANE, CREATE, {"allowed": True, "reason": "by RBAC"}, world())
    assert (answer.state, causes(answer.findings)) == ("may create deployments.apps in shop", [])


def test_what_may_not_be_read_is_not_judged() -> None:
    assert len(access.decide(JANE, CREATE, {}, world()).findings) == 1


def test_commands_can_be_copied_whatever_names_are() -> None:
    evil = User("$(reboot)")
    answer = access.decide(
        evil, CREATE, {}, world((CLUSTER_ROLES, [role("a; rm -rf /", ["create"], ["deployments"])]))
    )
    assert "'--clusterrole=a; rm -rf /' '--user=$(reboot)'" in answer.findings[1].command


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'Error from server (Forbidden): pods "web" is forbidden: User "jane" cannot get resource "pods/log" in API group "" in the namespace "shop"',
            ("jane", Wish("get", "pods", "", "log", "shop", "web")),
        ),
        (
            'nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the cluster scope',
            ("jane", Wish("list", "nodes")),
        ),
        ('forbidden: User "jane" cannot get path "/metrics"', ("jane", Wish("get", path="/metrics"))),
        ("pod/web", None),
        ('User "' + "x" * 100_000, None),
    ],
)  # fmt: skip
def test_the_words_of_a_refusal_are_understood(text: str, expected: Any) -> None:
    read = access.refusal(text)
    assert (read and (read[0].name, read[1])) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("pods", ("pods", "")), ("Deployment", ("deployments", "apps")), ("widgets.example.com", ("widgets", "example.com")),
        ("unknown", ("unknown", "")),
    ],
)  # fmt: skip
def test_words_for_resources(word: str, expected: tuple[str, str]) -> None:
    assert access.resource(word) == expected
