"""Audit policies: how much is noted of which requests. The first rule that fits a request decides."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any

from pybernetes.api.field import Errors, Path
from pybernetes.api.text import yaml_reader
from pybernetes.api.validation.names import dns_subdomain
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.request_info import RequestInfo

log = logging.getLogger(__name__)
NONE, METADATA, REQUEST, REQUEST_RESPONSE = range(4)
LEVELS = ("None", "Metadata", "Request", "RequestResponse")
STAGES = ("RequestReceived", "ResponseStarted", "ResponseComplete", "Panic")
_VERSION = "audit.k8s.io/v1"
_LISTS = ("users", "userGroups", "verbs", "resources", "namespaces", "nonResourceURLs", "omitStages")
_RULE = {"level", "omitManagedFields", *_LISTS}
Test = Callable[[User | None, RequestInfo], bool]


@dataclass(frozen=True, slots=True)
class Depth:
    """How much is noted of a request."""

    level: int
    omitted: frozenset[str] = frozenset()  # stages
    managed_fields: bool = True


@dataclass(frozen=True, slots=True)
class Policy:
    """Rules in their order, and what holds for requests that none fits."""

    rules: tuple[tuple[Test, Depth], ...]
    otherwise: Depth

    def depth(self, user: User | None, info: RequestInfo) -> Depth:
        """Return how much is noted of a request; ``user`` is None if nobody knows who it is."""
        for fits, depth in self.rules:
            if fits(user, info):
                return depth
        return self.otherwise


def load(path: str) -> Policy:
    """Read a policy file; ValueError tells what is wrong with it."""
    try:
        raw = File(path).read_bytes()
    except OSError as error:
        raise ValueError(f'loading audit policy file: failed to read file path "{path}": {error}') from None
    try:
        return read(yaml_reader.loads(raw)[0])
    except yaml_reader.YamlError as error:
        raise ValueError(f"loading audit policy file: failed decoding: {error}: from file {path}") from None
    except ValueError as error:
        raise ValueError(f"loading audit policy file: {error}: from file {path}") from None


def read(value: Any) -> Policy:
    """Return a policy from its document; ValueError tells everything that is wrong with it."""
    if not isinstance(value, dict) or not value.get("kind"):
        raise ValueError("failed decoding: Object 'Kind' is missing")
    if (value["kind"], value.get("apiVersion")) != ("Policy", _VERSION):
        raise ValueError(
            f"unknown group version field {value.get('apiVersion')}, Kind={value['kind']} in policy"
        )
    problems = Errors()
    _stages(value.get("omitStages"), Path("omitStages"), problems)
    rules = value.get("rules") or []
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        raise ValueError("failed decoding: rules must be a list of objects")
    for index, rule in enumerate(rules):
        _check_rule(rule, Path("rules")[index], problems)
    if problems:
        raise ValueError(", ".join(str(problem) for problem in problems))
    if not rules:
        raise ValueError("loaded illegal policy with 0 rules")
    omitted = frozenset(value.get("omitStages") or ())
    managed = not value.get("omitManagedFields")
    return Policy(
        tuple((_test(rule), _depth(rule, omitted, managed)) for rule in rules), Depth(NONE, omitted, managed)
    )


def _depth(rule: dict[str, Any], omitted: frozenset[str], managed: bool) -> Depth:
    own = rule.get("omitManagedFields")
    return Depth(
        LEVELS.index(rule["level"]),
        omitted | frozenset(rule.get("omitStages") or ()),
        managed if own is None else not own,
    )


# -- what is wrong with a rule ---------------------------------------------------------------------------


def _check_rule(rule: dict[str, Any], path: Path, problems: Errors) -> None:
    for name in rule.keys() - _RULE:
        log.warning("the audit policy has an unknown field: %s", path / name)
    for name in _LISTS:
        if not isinstance(rule.get(name) or [], list):
            raise ValueError(f"failed decoding: {path / name} must be a list")
    if not rule.get("level"):
        problems.required(path / "level")
    elif rule["level"] not in LEVELS:
        problems.unsupported(path / "level", rule["level"], LEVELS)
    urls = rule.get("nonResourceURLs") or []
    for index, url in enumerate(urls):
        place = (path / "nonResourceURLs")[index]
        if url == "*":
            continue
        if not url.startswith("/"):
            problems.invalid(place, url, "non-resource URL rules must begin with a '/' character")
        if "*" in url[:-1]:
            problems.invalid(
                place, url, "non-resource URL wildcards '*' must be the final character of the rule"
            )
    for entry in rule.get("resources") or ():
        group = entry.get("group") or ""
        if group not in ("", "*") and (invalid := dns_subdomain(group)):
            problems.invalid(path / "resources" / "group", group, ",".join(invalid))
        if entry.get("resourceNames") and not entry.get("resources"):
            place, names = path / "resources" / "resourceNames", entry["resourceNames"]
            problems.invalid(place, names, "using resourceNames requires at least one resource")
    _stages(rule.get("omitStages"), path / "omitStages", problems)
    if urls and (rule.get("resources") or rule.get("namespaces")):
        why = "rules cannot apply to both regular resources and non-resource URLs"
        problems.invalid(path / "nonResourceURLs", urls, why)


def _stages(stages: Any, path: Path, problems: Errors) -> None:
    for index, stage in enumerate(stages or ()):
        if stage not in STAGES:
            problems.invalid(path[index], stage, f"allowed stages are {','.join(STAGES)}")


# -- what a rule fits ------------------------------------------------------------------------------------


def _test(rule: dict[str, Any]) -> Test:
    users, groups, verbs, namespaces = (
        frozenset(rule.get(name) or ()) for name in ("users", "userGroups", "verbs", "namespaces")
    )
    resources = [_resources(entry) for entry in rule.get("resources") or ()]
    urls = [str(url) for url in rule.get("nonResourceURLs") or ()]

    def fits(user: User | None, info: RequestInfo) -> bool:
        if users and (user is None or user.name not in users):
            return False
        if groups and (user is None or groups.isdisjoint(user.groups)):
            return False
        if verbs and info.verb not in verbs:
            return False
        if namespaces or resources:
            if not info.is_resource or (namespaces and info.namespace not in namespaces):
                return False
            return not resources or any(matches_resource(info) for matches_resource in resources)
        if urls:
            return not info.is_resource and any(_is_under(info.path, url) for url in urls)
        return True

    return fits


def _is_under(path: str, url: str) -> bool:
    return url == "*" or path == url or (url.endswith("*") and path.startswith(url.rstrip("*")))


def _resources(entry: dict[str, Any]) -> Callable[[RequestInfo], bool]:
    group, wanted = entry.get("group") or "", frozenset(entry.get("resources") or ())
    names = frozenset(entry.get("resourceNames") or ())

    def fits(info: RequestInfo) -> bool:
        if group not in ("*", info.group):
            return False
        if not wanted:
            return True
        if names and info.name not in names:
            return False
        if "*" in wanted or f"{info.resource}/*" in wanted:
            return True
        if not info.subresource:
            return info.resource in wanted
        return f"{info.resource}/{info.subresource}" in wanted or f"*/{info.subresource}" in wanted

    return fits
