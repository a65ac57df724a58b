"""Which flow schema a request belongs to, and which flow of it: pure functions of objects and requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.request_info import RequestInfo

_ACCOUNT = "system:serviceaccount:"
Matches = Callable[[User, RequestInfo], bool]


@dataclass(frozen=True, slots=True)
class FlowSchema:
    """A flow schema, ready to be asked."""

    name: str
    uid: str
    level: str
    precedence: int
    method: str
    matches: Matches

    def flow(self, user: User, info: RequestInfo) -> str:
        """Return what tells the flows of the schema apart."""
        if self.method == "ByUser":
            return user.name
        return info.namespace if self.method == "ByNamespace" else ""


def compiled(obj: Object) -> FlowSchema:
    """Return a flow schema from its object."""
    spec = obj["spec"]
    rules = [_rule(rule) for rule in spec.get("rules", ())]
    return FlowSchema(
        obj["metadata"]["name"],
        obj["metadata"]["uid"],
        spec["priorityLevelConfiguration"]["name"],
        spec["matchingPrecedence"],
        spec.get("distinguisherMethod", {}).get("type", ""),
        lambda user, info: any(rule(user, info) for rule in rules),
    )


def ordered(schemas: Iterable[FlowSchema]) -> list[FlowSchema]:
    """Return the schemas in the order in which they are asked."""
    return sorted(schemas, key=lambda schema: (schema.precedence, schema.name))


def _rule(rule: dict[str, Any]) -> Matches:
    subjects = [_subject(subject) for subject in rule.get("subjects", ())]
    resources = [_resources(resource_rule) for resource_rule in rule.get("resourceRules", ())]
    urls = [_urls(url_rule) for url_rule in rule.get("nonResourceRules", ())]

    def matches(user: User, info: RequestInfo) -> bool:
        asked = resources if info.is_resource else urls
        return any(covers(info) for covers in asked) and any(subject(user) for subject in subjects)

    return matches


def _subject(subject: dict[str, Any]) -> Callable[[User], bool]:
    kind = subject["kind"]
    if kind == "User":
        name = subject["user"]["name"]
        return lambda user: name in ("*", user.name)
    if kind == "Group":
        group = subject["group"]["name"]
        return lambda user: group == "*" or group in user.groups
    account = subject["serviceAccount"]
    prefix = f"{_ACCOUNT}{account['namespace']}:"
    if account["name"] == "*":
        return lambda user: user.name.startswith(prefix)
    return lambda user: user.name == prefix + account["name"]


def _resources(rule: dict[str, Any]) -> Callable[[RequestInfo], bool]:
    verbs, groups = _set(rule["verbs"]), _set(rule["apiGroups"])
    resources, namespaces = _set(rule["resources"]), _set(rule.get("namespaces", ()))
    cluster = bool(rule.get("clusterScope"))

    def matches(info: RequestInfo) -> bool:
        name = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
        return (
            (verbs is None or info.verb in verbs)
            and (groups is None or info.group in groups)
            and (resources is None or name in resources)
            and (cluster if not info.namespace else namespaces is None or info.namespace in namespaces)
        )

    return matches


def _urls(rule: dict[str, Any]) -> Callable[[RequestInfo], bool]:
    verbs, urls = _set(rule["verbs"]), _set(rule["nonResourceURLs"])
    exact = frozenset(url for url in urls or () if not url.endswith("*"))
    prefixes = tuple(url[:-1] for url in urls or () if url.endswith("*"))

    def matches(info: RequestInfo) -> bool:
        if verbs is not None and info.verb not in verbs:
            return False
        return urls is None or info.path in exact or info.path.startswith(prefixes)

    return matches


def _set(names: Iterable[str]) -> frozenset[str] | None:
    """Return the names; None stands for all of them."""
    listed = frozenset(names)
    return None if "*" in listed else listed
