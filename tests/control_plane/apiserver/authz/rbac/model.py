"""What RBAC allows, written down from its documentation: plain, slow, and without a line of the authorizer's.

A user has the rules of every role that a binding gives to the user, to one of the user's groups or to the service
account that the user is. A cluster role binding gives its cluster role everywhere; a role binding gives its role, or a
cluster role, in its own namespace only. There are no rules that deny.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

Object = dict[str, Any]


class Subject(NamedTuple):
    """Who asks."""

    name: str
    groups: tuple[str, ...] = ()


class Question(NamedTuple):
    """What is asked for: something with a resource, or a path."""

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""


class Model:
    """Roles and bindings by kind, namespace and name, as the API shows them."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str, str], Object] = {}

    def put(self, kind: str, namespace: str, name: str, obj: Object) -> None:
        self.objects[kind, namespace, name] = obj

    def drop(self, kind: str, namespace: str, name: str) -> None:
        self.objects.pop((kind, namespace, name), None)

    def allows(self, who: Subject, question: Question) -> bool:
        return any(covers(rule, question) for rule in self.rules(who, question.namespace))

    def rules(self, who: Subject, namespace: str) -> list[Object]:
        """Return every rule that somebody has in a namespace, or in the cluster if there is no namespace."""
        rules: list[Object] = []
        for (kind, place, _), obj in self.objects.items():
            everywhere = kind == "ClusterRoleBinding"
            here = kind == "RoleBinding" and bool(namespace) and place == namespace
            if (everywhere or here) and any(is_meant(subject, who, place) for subject in obj["subjects"]):
                reference = obj["roleRef"]
                if reference["kind"] == "ClusterRole":
                    rules += self.cluster_role_rules(reference["name"])
                elif here:
                    rules += self.objects.get(("Role", place, reference["name"]), {}).get("rules", [])
        return rules

    def cluster_role_rules(self, name: str) -> list[Object]:
        """Return the rules of a cluster role: its own, or those of all roles that it is gathered from."""
        role = self.objects.get(("ClusterRole", "", name), {})
        if "aggregationRule" not in role:
            return role.get("rules", [])
        return [rule for other in self.gathered(name, role) for rule in self.cluster_role_rules(other)]

    def gathered(self, name: str, role: Object) -> Iterator[str]:
        for (kind, _, other), obj in self.objects.items():
            labels = obj.get("labels", {})
            if kind == "ClusterRole" and other != name:
                if any(wanted.items() <= labels.items() for wanted in role["aggregationRule"]):
                    yield other


def is_meant(subject: Object, who: Subject, namespace: str) -> bool:
    """Tell whether a subject of a binding in a namespace is somebody."""
    if subject["kind"] == "User":
        return subject["name"] == who.name
    if subject["kind"] == "Group":
        return subject["name"] in who.groups
    home = subject.get("namespace") or namespace
    return bool(home) and who.name == f"system:serviceaccount:{home}:{subject['name']}"


def covers(rule: Object, question: Question) -> bool:
    """Tell whether one rule allows something."""
    if "*" not in rule["verbs"] and question.verb not in rule["verbs"]:
        return False
    if question.path:
        return any(is_url(pattern, question.path) for pattern in rule.get("nonResourceURLs", ()))
    groups, resources = rule.get("apiGroups", ()), rule.get("resources", ())
    if "*" not in groups and question.group not in groups:
        return False
    wanted = f"{question.resource}/{question.subresource}" if question.subresource else question.resource
    of_all = f"*/{question.subresource}" if question.subresource else "*"
    if "*" not in resources and wanted not in resources and of_all not in resources:
        return False
    names = rule.get("resourceNames", ())
    return not names or question.name in names


def is_url(pattern: str, path: str) -> bool:
    """Tell whether a path is meant: a star at the end stands for anything."""
    return path.startswith(pattern[:-1]) if pattern.endswith("*") else path == pattern
