"""Impersonation against an independent model: who may become whom, with some of the rights that it takes."""

from __future__ import annotations

import random
import re
from itertools import product
from typing import NamedTuple

from pybernetes.api.errors import StatusError
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.authz.verdict import ALLOWED, NO_OPINION, Verdict
from pybernetes.control_plane.apiserver.pipeline.steps.impersonation import Impersonation
from pybernetes.control_plane.apiserver.request_info import RequestInfo, parse

LIST = parse("GET", "/api/v1/namespaces/default/pods", False)
NEW = "authentication.k8s.io"
NODE_NAME = "authentication.kubernetes.io/node-name"
DOMAINED = re.compile(r"[a-z]+[.]io/[a-z]+")
ACCOUNT, NODE = "system:serviceaccount:", "system:node:"
REQUESTORS = (
    User("ann", groups=("system:authenticated",)),
    User("system:serviceaccount:default:agent", extra={NODE_NAME: ("n1",)}),
    User("system:serviceaccount:default:agent", extra={NODE_NAME: ("n1", "n2")}),
    User("not-an-account", extra={NODE_NAME: ("n1",)}),
)
NAMES = (
    "bob", "system:anonymous", f"{ACCOUNT}default:robot", f"{NODE}n1", f"{NODE}n2", f"{NODE}N_1", f"{ACCOUNT}robot", "admin",
)  # fmt: skip
GROUPS = (
    (),
    ("dev",),
    ("dev", "ops"),
    ("system:masters",),
    ("system:unauthenticated",),
    ("a", "b", "c", "d"),
    ("",),
)
EXTRAS: tuple[dict[str, tuple[str, ...]], ...] = (
    {}, {"a.io/x": ("view",)}, {"a.io/x": ("view", "edit")}, {"a.io/x": ("1",), "a.io/y": ("2", "3"), "b.io/x": ("4",)},
    {"a.io/x": ("",)}, {"undomained": ("x",)}, {"a.io/x": ("view",), "b.io/no way": ("x",)},
)  # fmt: skip


class Right(NamedTuple):
    verb: str
    group: str
    resource: str
    subresource: str = ""
    namespace: str = ""
    name: str = ""


def parts(wanted: User, mode: str) -> list[Right]:
    """Return the rights to all parts of a user in a mode, empty for the old one."""
    verb, group = (f"impersonate:{mode}", NEW) if mode else ("impersonate", "")
    if is_account(wanted.name):
        namespace, name = wanted.name.removeprefix(ACCOUNT).split(":")
        rights = [Right(verb, group, "serviceaccounts", "", namespace, name)]
    elif mode and is_node(wanted.name):
        rights = [
            Right(
                verb,
                group,
                "nodes",
                name="*" if mode == "associated-node" else wanted.name.removeprefix(NODE),
            )
        ]
    else:
        rights = [Right(verb, group, "users", name=wanted.name)]
    if wanted.uid:
        rights.append(Right(verb, NEW, "uids", name=wanted.uid))
    rights += [Right(verb, group, "groups", name=name) for name in wanted.groups]
    rights += [
        Right(verb, NEW, "userextras", key, name=value)
        for key, values in wanted.extra.items()
        for value in values
    ]
    return rights


def is_account(name: str) -> bool:
    return name.startswith(ACCOUNT) and name.count(":") == 3


def is_node(name: str) -> bool:
    return name.startswith(NODE) and name != f"{NODE}N_1"  # which is no name of a node


def modes(wanted: User, requestor: User) -> list[str]:
    """Return the modes that are tried, the old one last."""
    bare = not (wanted.uid or wanted.groups or wanted.extra)
    names = []
    if is_node(wanted.name):
        own = requestor.extra.get(NODE_NAME) == (wanted.name.removeprefix(NODE),)
        if bare and own and is_account(requestor.name):
            names.append("associated-node")
        if bare:
            names.append("arbitrary-node")
    elif is_account(wanted.name):
        names += ["serviceaccount"] if bare else []
    else:
        names.append("user-info")
    return [*names, ""]


def becomes(wanted: User, requestor: User, rights: set[Right]) -> User | None:
    """Return whom a request goes on as, None if it is refused."""
    for mode in modes(wanted, requestor):
        needed = parts(wanted, mode)
        groups = wanted.groups
        if mode:
            needed = drop_covered(needed, wanted, mode, rights)
            needed.append(Right(f"impersonate-on:{mode}:list", "", "pods", "", "default"))
            odd = "" in wanted.groups or "system:masters" in wanted.groups
            if odd or any(
                not DOMAINED.fullmatch(key) or "" in values for key, values in wanted.extra.items()
            ):
                continue
            groups = ("system:nodes",) if is_node(wanted.name) else groups
        if not rights.issuperset(needed):
            continue
        if is_account(wanted.name) and not groups:
            groups = ("system:serviceaccounts", "system:serviceaccounts:default")
        marks = ("system:authenticated", "system:unauthenticated")
        mark = marks[wanted.name == "system:anonymous"]
        if mark not in groups and not (mark == marks[0] and marks[1] in groups):
            groups = (*groups, mark)
        return User(wanted.name, wanted.uid, groups, wanted.extra)
    return None


def drop_covered(needed: list[Right], wanted: User, mode: str, rights: set[Right]) -> list[Right]:
    """Leave out the many groups or values for which there is the right to all of them."""
    verb = f"impersonate:{mode}"
    if len(wanted.groups) >= 4 and Right(verb, NEW, "groups", name="*") in rights:
        needed = [right for right in needed if right.resource != "groups"]
    if sum(map(len, wanted.extra.values())) >= 4 and Right(verb, NEW, "userextras", "*", name="*") in rights:
        needed = [right for right in needed if right.resource != "userextras"]
    return needed


async def test_everybody_becomes_whom_the_model_says() -> None:
    pick = random.Random(3)
    wanted_users = [User(*parts) for parts in product(NAMES, ("", "u1"), GROUPS, EXTRAS)]
    outcomes = {"refused": 0, "old": 0, "new": 0}
    for wanted in wanted_users:
        for requestor in REQUESTORS:
            possible = [
                right
                for mode in ("", "associated-node", "arbitrary-node", "serviceaccount", "user-info")
                for right in (
                    *parts(wanted, mode), Right(f"impersonate-on:{mode}:list", "", "pods", "", "default"),
                    Right(f"impersonate:{mode}", NEW, "groups", name="*"), Right(f"impersonate:{mode}", NEW, "userextras", "*", name="*"),
                )
            ]  # fmt: skip
            for share in (1.0, 0.85, 0.6):
                rights = {right for right in possible if pick.random() < share}
                if pick.random() < 0.5:  # without the old mode, which allows much
                    rights = {right for right in rights if right.verb != "impersonate"}

                async def authorize(user: User, info: RequestInfo, rights: set[Right] = rights) -> Verdict:
                    right = Right(
                        info.verb, info.group, info.resource, info.subresource, info.namespace, info.name
                    )
                    return ALLOWED if right in rights else NO_OPINION

                expected = becomes(wanted, requestor, rights)
                try:
                    became, constraint = await Impersonation(authorize, requestor, LIST).become(wanted)
                except StatusError as error:
                    assert error.code == 403 and expected is None, (wanted, requestor, rights)
                    outcomes["refused"] += 1
                else:
                    assert became == expected, (wanted, requestor, rights)
                    outcomes["new" if constraint else "old"] += 1
    assert min(outcomes.values()) > 300, outcomes
