"""Generated roles, bindings and questions, always the same for a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from pybernetes.api.registry import builtin
from pybernetes.control_plane.apiserver.discovery.subresource_kinds import of as subresources_of
from tests.control_plane.apiserver.authz.rbac.model import Model, Question, Subject

Object = dict[str, Any]
VERBS = (
    "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "bind", "escalate",
    "impersonate", "use", "approve", "sign", "attest",
)  # fmt: skip
NAMESPACES = ("one", "two", "three")
SCOPES = ("", "one", "two")
NAMES = ("", "x", "w")
PATHS = (
    "/healthz",
    "/healthz/etcd",
    "/healthzz",
    "/metrics",
    "/metrics/slis",
    "/api",
    "/apis/apps",
    "/logs/",
    "/version",
)
PATTERNS = ("*", "/healthz", "/healthz/*", "/healthz*", "/metrics", "/api*", "/apis/*", "/", "/logs/*")
KNOWN = "system:authenticated"
SUBJECTS = (
    Subject("ann", (KNOWN,)),
    Subject("bob", ("dev", "ops", KNOWN)),
    Subject("x", ("ann", "system:serviceaccount:one:robot", KNOWN)),
    Subject("system:serviceaccount:one:robot", ("system:serviceaccounts", "system:serviceaccounts:one", KNOWN)),
    Subject("system:serviceaccount:two:robot", ("system:serviceaccounts", "system:serviceaccounts:two", KNOWN)),
    Subject("system:node:n1", ("system:nodes", KNOWN)),
    Subject("system:anonymous", ("system:unauthenticated",)),
)  # fmt: skip
# Whom bindings name: some who never ask, some with names that others' groups have.
_BOUND = (
    {"kind": "User", "name": "ann"}, {"kind": "User", "name": "bob"}, {"kind": "User", "name": "x"},
    {"kind": "User", "name": "dev"}, {"kind": "User", "name": "system:anonymous"},
    {"kind": "User", "name": "system:serviceaccount:two:robot"}, {"kind": "User", "name": "*"},
    {"kind": "Group", "name": "dev"}, {"kind": "Group", "name": "ann"}, {"kind": "Group", "name": KNOWN},
    {"kind": "Group", "name": "system:unauthenticated"}, {"kind": "Group", "name": "system:nodes"},
    {"kind": "Group", "name": "system:serviceaccounts:one"}, {"kind": "Group", "name": "*"},
    {"kind": "ServiceAccount", "name": "robot"}, {"kind": "ServiceAccount", "name": "robot", "namespace": "one"},
    {"kind": "ServiceAccount", "name": "robot", "namespace": "two"},
)  # fmt: skip


def places() -> list[tuple[str, str, str]]:
    """Return group, resource and subresource of all that is served, and of things that are not."""
    result = {
        ("example.com", "widgets", ""),
        ("example.com", "widgets", "scale"),
        ("", "*", ""),
        ("*", "pods", ""),
    }
    for resource in builtin():
        result.add((resource.group, resource.plural, ""))
        result |= {(resource.group, resource.plural, one.name) for one in subresources_of(resource)}
    return sorted(result)


def every_question() -> Iterator[Question]:
    """Yield every verb on every resource and subresource at every scope, with and without a name."""
    for verb in VERBS:
        for group, resource, subresource in places():
            for namespace in SCOPES:
                for name in NAMES:
                    yield Question(verb, group, resource, subresource, namespace, name)
        for path in PATHS:
            yield Question(verb, path=path)


class Generator:
    """Changes the objects of a model at random."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.places = places()

    def some(self, choices: Any, most: int) -> list[Any]:
        return self.random.sample(list(choices), self.random.randint(1, most))

    def rule(self, urls: bool) -> Object:
        pick = self.random
        verbs = ["*"] if pick.random() < 0.25 else self.some(VERBS, 8)
        if urls and pick.random() < 0.2:
            return {"verbs": verbs, "nonResourceURLs": self.some(PATTERNS, 2)}
        chosen = self.some(self.places, 12)
        groups = sorted({group for group, _, _ in chosen})
        resources = sorted({f"{resource}/{sub}" if sub else resource for _, resource, sub in chosen})
        wild = pick.random()
        if wild < 0.2:
            resources = ["*"]
        elif wild < 0.35:
            resources = [f"*/{sub}" for sub in self.some(("scale", "status", "log", "exec", "token"), 2)]
        elif wild < 0.4:
            resources = ["pods/*", "*/*", "*pods"]  # stars that mean nothing
        if pick.random() < 0.5:
            groups = ["*"]
        rule = {"verbs": verbs, "apiGroups": groups, "resources": resources}
        return rule | {"resourceNames": self.some(("x", "y", "*", "z"), 2)} if pick.random() < 0.2 else rule

    def cluster_role(self, name: str) -> Object:
        if name.startswith("whole"):
            return {"aggregationRule": [{"part": name[5:]}, {"part": "all", "more": "yes"}]}
        labels = {
            "part": self.random.choice(("0", "1", "all", "none")),
            "more": self.random.choice(("yes", "no")),
        }
        rules = [self.rule(urls=True) for _ in range(self.random.randint(0, 3))]
        return {"labels": labels, "rules": rules}

    def binding(self, namespace: str) -> Object:
        pick = self.random
        own = bool(namespace) and pick.random() < 0.4
        role = (
            f"r{pick.randint(0, 5)}" if own else pick.choice((f"c{pick.randint(0, 13)}", "whole0", "whole1"))
        )
        subjects = self.some(_BOUND, 2)
        if not namespace:  # without a namespace an account cannot be told
            subjects = [one for one in subjects if one["kind"] != "ServiceAccount" or "namespace" in one]
        return {"roleRef": {"kind": "Role" if own else "ClusterRole", "name": role}, "subjects": subjects}

    def changes(self, count: int) -> Iterator[tuple[str, str, str, Object | None]]:
        """Yield kind, namespace, name and object of changes; None where something is deleted."""
        pick = self.random
        for _ in range(count):
            kind = pick.choice(
                ("ClusterRole", "ClusterRole", "Role", "ClusterRoleBinding", "RoleBinding", "RoleBinding")
            )
            namespace = "" if kind.startswith("Cluster") else pick.choice(NAMESPACES)
            if kind == "ClusterRole":
                name = pick.choice((f"c{pick.randint(0, 11)}", "whole0", "whole1"))
                obj = self.cluster_role(name)
            elif kind == "Role":
                name = f"r{pick.randint(0, 4)}"
                obj = {"rules": [self.rule(urls=False) for _ in range(pick.randint(0, 3))]}
            else:
                name = f"b{pick.randint(0, 13)}"
                obj = self.binding(namespace)
            yield kind, namespace, name, None if pick.random() < 0.2 else obj


def apply(model: Model, kind: str, namespace: str, name: str, obj: Object | None) -> None:
    """Make a change in a model."""
    if obj is None:
        model.drop(kind, namespace, name)
    else:
        model.put(kind, namespace, name, obj)
