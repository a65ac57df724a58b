"""The chain of authorizers and the modes that it is made of."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Awaitable

import pytest

from pybernetes.control_plane.apiserver.assembly.server_context import new_context
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.authz.authorization import Authorization
from pybernetes.control_plane.apiserver.authz.setup import chosen_modes
from pybernetes.control_plane.apiserver.authz.verdict import ALLOWED, NO_OPINION, Rules, Verdict
from pybernetes.control_plane.apiserver.forbidden import forbidden
from pybernetes.control_plane.apiserver.request_info import RequestInfo
from pybernetes.control_plane.apiserver.storage.kinds import Kinds
from pybernetes.control_plane.store.open import open_store
from pybernetes.lib.metrics.exposition import Exposition
from tests.support import run

ANN = User("ann", groups=("dev",))
QUESTION = RequestInfo("get", is_resource=True, resource="pods", namespace="one")
NO = Verdict(denied=True, reason="never")


class Says:
    """An authorizer with one answer, at once or after a while."""

    def __init__(self, name: str, verdict: Verdict, later: bool = False) -> None:
        self.name, self.verdict, self.later = name, verdict, later

    def start(self) -> None: ...

    def authorize(self, user: User, info: RequestInfo) -> Verdict | Awaitable[Verdict]:
        async def later() -> Verdict:
            return self.verdict

        return later() if self.later else self.verdict

    def rules(self, user: User, namespace: str) -> Rules:
        return Rules([{"verbs": [self.name]}], self.later, [self.name] if self.later else [])


def because(reason: str) -> Verdict:
    return Verdict(reason=reason)


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([], NO_OPINION),
        ([NO_OPINION], NO_OPINION),
        ([NO_OPINION, ALLOWED], ALLOWED),
        ([NO, ALLOWED], NO),
        ([ALLOWED, NO], ALLOWED),
        ([because("so"), because(""), because("and so")], because("a0: so\na2: and so")),
        ([because("so"), ALLOWED], ALLOWED),
    ],
)
def test_the_first_with_an_opinion_decides(verdicts: list[Verdict], expected: Verdict, later: bool) -> None:
    chain = Authorization([Says(f"A{number}", verdict, later) for number, verdict in enumerate(verdicts)])
    store = open_store("memory")
    context = new_context(store, Kinds(), authorization=chain)
    assert run(context.authorize(ANN, QUESTION)) == expected
    out = Exposition()
    chain.render(out)
    decided = [index for index, verdict in enumerate(verdicts) if verdict.allowed or verdict.denied]
    name, what = "apiserver_authorization_decisions_total", "allowed" if expected.allowed else "denied"
    counted = [f'{name}{{decision="{what}",name="a{index}",type="A{index}"}} 1' for index in decided[:1]]
    assert [line for line in out.render().decode().splitlines() if line.startswith(name)] == counted


def test_the_administrators_group_is_never_refused() -> None:
    chain = Authorization([Says("a", NO)])
    assert chain.authorize(User("root", groups=("system:masters",)), QUESTION) is ALLOWED
    assert chain.authorize(User("system:masters"), QUESTION) is NO


def test_rules_of_all_are_listed() -> None:
    rules = Authorization([Says("a", NO), Says("b", NO, later=True)]).rules(ANN, "one")
    assert rules == Rules([{"verbs": ["a"]}, {"verbs": ["b"]}], True, ["b"])


def test_modes() -> None:
    assert [mode.name for mode in chosen_modes("AlwaysAllow,AlwaysDeny,Node,RBAC")] == [
        "AlwaysAllow", "AlwaysDeny", "Node", "RBAC",
    ]  # fmt: skip
    for flag, problem in (
        ("", "at least one authorization mode must be passed"),
        ("RBAC,Foo", "Foo is not supported; choose from ABAC, AlwaysAllow, AlwaysDeny, Node, RBAC"),
        ("RBAC,RBAC", "RBAC is there more than once"),
    ):
        with pytest.raises(ValueError, match=problem):
            chosen_modes(flag)


def test_allow_and_deny() -> None:
    context = new_context(open_store("memory"), Kinds())
    allow, deny = (mode.build(context, Namespace()) for mode in chosen_modes("AlwaysAllow,AlwaysDeny"))
    assert allow.authorize(ANN, QUESTION) == ALLOWED
    assert deny.authorize(ANN, QUESTION) == because("Everything is forbidden.")
    assert len(allow.rules(ANN, "one").rules) == 2 and not deny.rules(ANN, "one").rules


@pytest.mark.parametrize(
    ("info", "why", "message"),
    [
        (QUESTION, "", 'pods is forbidden: User "ann" cannot get resource "pods" in API group "" in the namespace "one"'),
        (RequestInfo("list", is_resource=True, group="apps", resource="deployments"), "",
         'deployments.apps is forbidden: User "ann" cannot list resource "deployments" in API group "apps" at the '
         "cluster scope"),
        (RequestInfo("get", is_resource=True, resource="pods", subresource="log", name="p", namespace="one"), "rbac: so",
         'pods "p" is forbidden: User "ann" cannot get resource "pods/log" in API group "" in the namespace "one": rbac: so'),
        (RequestInfo("post", "/<x>&"), "<y>", 'forbidden: User "ann" cannot post path "/&lt;x&gt;&amp;": <y>'),
    ],
)  # fmt: skip
def test_refusals(info: RequestInfo, why: str, message: str) -> None:
    error = forbidden(ANN, info, why)
    assert (error.code, error.reason, error.message) == (403, "Forbidden", message)
