"""Who may become whom, with the words of Kubernetes."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.errors import StatusError
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.authz.verdict import ALLOWED, NO_OPINION, Verdict
from pybernetes.control_plane.apiserver.pipeline.steps.impersonation import (
    Impersonation,
    asked_for,
    extra_problem,
    impersonation,
    modes,
)
from pybernetes.control_plane.apiserver.request_info import RequestInfo, parse
from pybernetes.lib.http.messages import Response
from tests.control_plane.apiserver.authn.requests import request

ALICE = User("alice", groups=("devs", "system:authenticated"))
AGENT = User("system:serviceaccount:default:agent", extra={"authentication.kubernetes.io/node-name": ("n1",)})
LIST = parse("GET", "/api/v1/namespaces/default/pods", False)
GROUP = "authentication.k8s.io"


class Rights:
    """An authorizer that allows what is listed: verb, group, resource, subresource, namespace and name."""

    def __init__(self, *rights: str) -> None:
        self.rights = frozenset(rights)
        self.asked: list[str] = []
        self.users: list[User] = []

    async def __call__(self, user: User, info: RequestInfo) -> Verdict:
        resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
        right = f"{info.verb} {resource} {info.namespace}:{info.name}"
        assert info.group == ("" if info.verb == "impersonate" and resource in OLD else info.group)
        self.asked.append(right)
        self.users.append(user)
        return ALLOWED if right in self.rights else NO_OPINION


OLD = ("users", "groups", "serviceaccounts")


async def become(wanted: User, *rights: str, by: User = ALICE, asks: RequestInfo = LIST) -> User | str:
    try:
        return (await Impersonation(Rights(*rights), by, asks).become(wanted))[0]
    except StatusError as error:
        assert error.code == 403
        return error.message


KNOWN = "system:authenticated"
ROBOT = User("system:serviceaccount:default:robot")
ROBOTS = ("system:serviceaccounts", "system:serviceaccounts:default", KNOWN)
ON = "impersonate-on:{}:list pods default:"


@pytest.mark.parametrize(
    ("wanted", "rights", "expected"),
    [
        # The old mode: the right to be someone is enough.
        (User("bob"), ["impersonate users :bob"], User("bob", groups=(KNOWN,))),
        (
            User("bob", "7", ("a", "b"), {"k": ("v",)}),
            ["impersonate users :bob", "impersonate uids :7", "impersonate groups :a", "impersonate groups :b",
             "impersonate userextras/k :v"],
            User("bob", "7", ("a", "b", KNOWN), {"k": ("v",)}),
        ),
        (ROBOT, ["impersonate serviceaccounts default:robot"], User(ROBOT.name, groups=ROBOTS)),
        (
            User(ROBOT.name, groups=("a",)),
            ["impersonate serviceaccounts default:robot", "impersonate groups :a"],
            User(ROBOT.name, groups=("a", KNOWN)),
        ),
        (User("system:anonymous"), ["impersonate users :system:anonymous"],
         User("system:anonymous", groups=("system:unauthenticated",))),
        (
            User("bob", groups=("system:unauthenticated",)),
            ["impersonate users :bob", "impersonate groups :system:unauthenticated"],
            User("bob", groups=("system:unauthenticated",)),
        ),
        (User("system:node:n1"), ["impersonate users :system:node:n1"], User("system:node:n1", groups=(KNOWN,))),
        (User("bob", groups=("system:masters",)), ["impersonate users :bob", "impersonate groups :system:masters"],
         User("bob", groups=("system:masters", KNOWN))),
        # The new modes: one needs the right to the verb as well.
        (User("bob"), [ON.format("user-info"), "impersonate:user-info users :bob"], User("bob", groups=(KNOWN,))),
        (ROBOT, [ON.format("serviceaccount"), "impersonate:serviceaccount serviceaccounts default:robot"],
         User(ROBOT.name, groups=ROBOTS)),
        (User("system:node:n1"), [ON.format("arbitrary-node"), "impersonate:arbitrary-node nodes :n1"],
         User("system:node:n1", groups=("system:nodes", KNOWN))),
        (
            User("bob", groups=("a", "b", "c", "d")),
            [ON.format("user-info"), "impersonate:user-info users :bob", "impersonate:user-info groups :*"],
            User("bob", groups=("a", "b", "c", "d", KNOWN)),
        ),
        # Not enough.
        (User("bob"), [], 'pods is forbidden: User "alice" cannot impersonate-on:user-info:list resource "pods" in '
                          'API group "" in the namespace "default"'),
        (User("bob"), [ON.format("user-info")],
         'users.authentication.k8s.io "bob" is forbidden: User "alice" cannot impersonate:user-info resource '
         '"users" in API group "authentication.k8s.io" at the cluster scope'),
        (User("bob"), ["impersonate:user-info users :bob"],
         'pods is forbidden: User "alice" cannot impersonate-on:user-info:list resource "pods" in API group "" in '
         'the namespace "default"'),
        (
            User("bob", groups=("system:masters",)),
            [ON.format("user-info"), "impersonate:user-info users :bob", "impersonate:user-info groups :system:masters"],
            'groups.authentication.k8s.io "system:masters" is forbidden: User "alice" cannot impersonate:user-info '
            'resource "groups" in API group "authentication.k8s.io" at the cluster scope: impersonating the '
            "system:masters group is not allowed",
        ),
        (User(ROBOT.name, groups=("a",)), [],
         'serviceaccounts "robot" is forbidden: User "alice" cannot impersonate resource "serviceaccounts" in API '
         'group "" in the namespace "default"'),
        (User("bob", groups=("a",)), ["impersonate users :bob"],
         'pods is forbidden: User "alice" cannot impersonate-on:user-info:list resource "pods" in API group "" in '
         'the namespace "default"'),
        (User("bob", "7"), ["impersonate users :bob"],
         'pods is forbidden: User "alice" cannot impersonate-on:user-info:list resource "pods" in API group "" in '
         'the namespace "default"'),
    ],
)  # fmt: skip
async def test_becoming(wanted: User, rights: list[str], expected: User | str) -> None:
    assert await become(wanted, *rights) == expected


async def test_an_agent_becomes_the_node_that_it_is_on() -> None:
    rights = Rights(ON.format("associated-node"), "impersonate:associated-node nodes :*")
    node, constraint = await Impersonation(rights, AGENT, LIST).become(User("system:node:n1"))
    assert constraint == "impersonate:associated-node"
    assert node == User("system:node:n1", groups=("system:nodes", KNOWN))
    # The authorizer hears that there is a node, not which.
    key = "authentication.kubernetes.io/associated-node-keys"
    assert {tuple(user.extra.items()) for user in rights.users} == {
        ((key, ("authentication.kubernetes.io/node-name",)),)
    }
    other = await become(User("system:node:n2"), *rights.rights, by=AGENT)
    assert isinstance(other, str) and "impersonate-on:arbitrary-node:list" in other


@pytest.mark.parametrize(
    ("wanted", "by", "expected"),
    [
        (User("bob"), ALICE, ["user-info"]),
        (User("bob", groups=("a",)), ALICE, ["user-info"]),
        (ROBOT, ALICE, ["serviceaccount"]),
        (User(ROBOT.name, "7"), ALICE, []),
        (User("system:node:n1"), ALICE, ["arbitrary-node"]),
        (User("system:node:n1"), AGENT, ["associated-node", "arbitrary-node"]),
        (User("system:node:n2"), AGENT, ["arbitrary-node"]),
        (User("system:node:n1", groups=("a",)), AGENT, []),
        (User("system:node:UPPER"), ALICE, ["user-info"]),
        (User("system:node:"), ALICE, ["user-info"]),
        (User("system:node:n1"), User("alice", extra=AGENT.extra), ["arbitrary-node"]),
    ],
)
def test_modes(wanted: User, by: User, expected: list[str]) -> None:
    assert modes(wanted, by) == expected


@pytest.mark.parametrize(
    ("extra", "problem"),
    [
        ({"acme.com/x": ("v",)}, ""),
        ({"": ("v",)}, "empty string key"),
        ({"plain": ("v",)}, "invalid key"),
        ({"acme.com/X": ("v",)}, "non-lowercase key"),
        ({"acme.com/x": ()}, "empty values"),
        ({"acme.com/x": ("v", "")}, "empty string value"),
    ],
)
def test_additions_in_the_new_modes(extra: dict[str, tuple[str, ...]], problem: str) -> None:
    complaint = extra_problem(extra)
    assert problem in complaint and bool(problem) is bool(complaint)


# -- headers --------------------------------------------------------------------------------------------------------


def test_headers_name_a_user() -> None:
    headers = (
        ("Impersonate-User", "bob"),
        ("Impersonate-Group", "a,b"),
        ("Impersonate-Group", "c"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Extra-Acme.com%2fScope", "s1"),
        ("Impersonate-Extra-Acme.com%2fScope", "s2"),
    )
    assert asked_for(request(*headers)) == User("bob", "7", ("a,b", "c"), {"acme.com/scope": ("s1", "s2")})
    assert asked_for(request(("Impersonate-User", "bob"), ("Impersonate-User", "eve"))) == User("bob")
    assert asked_for(request()) is None and asked_for(request(("Impersonate-User", ""))) is None


NIL = "Extra:map[string][]string(nil)"


@pytest.mark.parametrize(
    ("header", "shown"),
    [
        (("Impersonate-Group", "a"), f'Name:"", UID:"", Groups:[]string{{"a"}}, {NIL}'),
        (("Impersonate-Uid", "a"), f'Name:"", UID:"a", Groups:[]string(nil), {NIL}'),
        (
            ("Impersonate-Extra-Foo", "a"),
            'Name:"", UID:"", Groups:[]string(nil), Extra:map[string][]string{"foo":[]string{"a"}}',
        ),
    ],
)
def test_parts_of_a_user_need_a_name(header: tuple[str, str], shown: str) -> None:
    for headers in ((header,), (header, ("Impersonate-User", ""))):
        with pytest.raises(StatusError) as refused:
            asked_for(request(*headers))
        expected = f"requested &user.DefaultInfo{{{shown}}} without impersonating a user name"
        assert (refused.value.code, refused.value.message) == (400, expected)


async def test_the_step() -> None:
    done = Response(b"done")
    handle: Any = impersonation(Rights("impersonate users :bob"))(lambda request: done)
    plain = request(("Accept", "*/*"))
    plain.user = ALICE
    assert handle(plain) is done and plain.user is ALICE
    asked = request(("Accept", "*/*"), ("Impersonate-User", "bob"), ("X-Impersonate", "no"))
    asked.user, asked.request_info = ALICE, LIST
    assert await handle(asked) is done
    assert asked.user == User("bob", groups=(KNOWN,))
    assert set(asked.headers) == {b"accept", b"x-impersonate"}
    refused = request(("Impersonate-User", "eve"))
    refused.user, refused.request_info = ALICE, LIST
    with pytest.raises(StatusError):
        await handle(refused)
    assert refused.user is ALICE
