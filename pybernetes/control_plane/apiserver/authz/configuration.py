"""AuthorizationConfiguration: the chain of authorizers, read strictly and checked, in upstream's words."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any

from pybernetes.api.cel.engine import Program
from pybernetes.api.field import Errors, Path
from pybernetes.api.strict_types import (
    BOOL,
    DURATION,
    STRING,
    Many,
    Problem,
    Struct,
    aggregate,
    read_document,
    read_file,
)
from pybernetes.api.text.durations import show_duration
from pybernetes.api.validation.names import dns_subdomain
from pybernetes.control_plane.apiserver.authz.webhook import match_conditions

WEBHOOK = "Webhook"
_GROUP, _KIND = "apiserver.config.k8s.io", "AuthorizationConfiguration"
_SCHEME = "k8s.io/apiserver/pkg/apis/apiserver/load/load.go:40"
_VERSIONS = ("v1", "v1beta1", "v1alpha1")
_CONNECTION = Struct("v1.WebhookConnectionInfo", {"type": STRING, "kubeConfigFile": STRING})
_WEBHOOK = Struct(
    "v1.WebhookConfiguration",
    {
        "authorizedTTL": DURATION,
        "cacheAuthorizedRequests": BOOL,
        "unauthorizedTTL": DURATION,
        "cacheUnauthorizedRequests": BOOL,
        "timeout": DURATION,
        "subjectAccessReviewVersion": STRING,
        "matchConditionSubjectAccessReviewVersion": STRING,
        "failurePolicy": STRING,
        "connectionInfo": _CONNECTION,
        "matchConditions": Many(Struct("v1.WebhookMatchCondition", {"expression": STRING})),
    },
)
_AUTHORIZER = Struct("v1.AuthorizerConfiguration", {"type": STRING, "name": STRING, "webhook": _WEBHOOK})
_DOCUMENT = Struct(
    "v1.AuthorizationConfiguration",
    {"kind": STRING, "apiVersion": STRING, "authorizers": Many(_AUTHORIZER)},
)


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """One webhook of the chain; ``connection`` is the file that says where it is."""

    name: str
    connection: str
    version: str = "v1"
    seconds: float = 30.0
    authorized_seconds: float = 300.0
    unauthorized_seconds: float = 30.0
    denies: bool = False
    conditions: tuple[Program, ...] = ()


@dataclass(frozen=True, slots=True)
class AuthorizerSettings:
    """One authorizer of the chain."""

    type: str
    webhook: WebhookSettings | None = None


def load(path: str, types: Iterable[str]) -> list[AuthorizerSettings]:
    """Return the chain that a file says, of these types; ValueError tells what is wrong with it."""
    known = sorted({*types, WEBHOOK})
    try:
        raw = read_file(path)
    except OSError as error:
        raise ValueError(str(error)) from None
    try:
        kinds = {(f"{_GROUP}/{version}", _KIND): _DOCUMENT for version in _VERSIONS}
        document = read_document(raw, kinds, _SCHEME)
    except Problem as error:
        raise ValueError(f"failed to load AuthorizationConfiguration from file: {error}") from None
    problems = Errors()
    chain = _read(document.get("authorizers") or [], known, problems)
    if problems:
        raise ValueError(aggregate([str(problem) for problem in problems]))
    wrong = [
        f"expected name {entry['type'].lower()} for authorizer {entry['type']} instead of {entry['name']}"
        for entry in document["authorizers"]
        if entry["type"] != WEBHOOK and entry["name"] != entry["type"].lower()
    ]
    if wrong:
        raise ValueError(aggregate(wrong))
    return chain


def _read(entries: list[Mapping[str, Any]], known: list[str], problems: Errors) -> list[AuthorizerSettings]:
    root = Path("authorizers")
    if not entries:
        problems.required(root, "at least one authorization mode must be defined")
    chain: list[AuthorizerSettings] = []
    types: set[str] = set()
    names: set[str] = set()
    for index, entry in enumerate(entries):
        path, type_, name = root[index], entry.get("type", ""), entry.get("name", "")
        if not type_:
            problems.required(path / "type")
            continue
        if type_ not in known:
            problems.unsupported(path / "type", type_, known)
            continue
        if type_ in types and type_ != WEBHOOK:
            problems.duplicate(path / "type", type_)
            continue
        types.add(type_)
        if not name:
            problems.required(path / "name")
        elif name in names:
            problems.duplicate(path / "name", name)
        elif wrong := dns_subdomain(name):
            problems.invalid(path / "name", name, f"authorizer name is invalid: {', '.join(wrong)}")
        names.add(name)
        given = entry.get("webhook")
        if type_ != WEBHOOK:
            if given is not None:
                problems.invalid(path / "webhook", "non-null", "may only be specified when type=Webhook")
            chain.append(AuthorizerSettings(type_))
        elif given is None:
            problems.required(path / "webhook", "required when type=Webhook")
        else:
            chain.append(AuthorizerSettings(type_, _webhook(name, given, path, problems)))
    return chain


def _webhook(name: str, given: Mapping[str, Any], path: Path, problems: Errors) -> WebhookSettings:
    seconds = given.get("timeout", 0)
    if not seconds:
        problems.required(path / "timeout")
    elif not 0 < seconds <= 30:
        problems.invalid(path / "timeout", show_duration(seconds), "must be > 0s and <= 30s")
    ttl = {}
    for field, cached, default in (
        ("authorizedTTL", "cacheAuthorizedRequests", 300.0),
        ("unauthorizedTTL", "cacheUnauthorizedRequests", 30.0),
    ):
        ttl[field] = given.get(field) or default
        if ttl[field] < 0:
            problems.invalid(path / field, show_duration(ttl[field]), "must be > 0s")
        if given.get(cached) is False:
            ttl[field] = 0.0
    version = given.get("subjectAccessReviewVersion", "")
    _one_of(version, path / "subjectAccessReviewVersion", ["v1", "v1beta1"], problems)
    conditions = given.get("matchConditions") or []
    match_version = given.get("matchConditionSubjectAccessReviewVersion", "")
    where = path / "matchConditionSubjectAccessReviewVersion"
    if not match_version:
        if conditions:
            problems.required(where, "required if match conditions are specified")
    elif match_version != "v1":
        problems.unsupported(where, match_version, ["v1"])
    policy = given.get("failurePolicy", "")
    _one_of(policy, path / "failurePolicy", ["NoOpinion", "Deny"], problems)
    connection = _connection(given.get("connectionInfo") or {}, path / "connectionInfo", problems)
    programs = match_conditions.compile_all(conditions, path / "matchConditions", problems)
    return WebhookSettings(
        name, connection, version, seconds, ttl["authorizedTTL"], ttl["unauthorizedTTL"], policy == "Deny",
        tuple(programs),
    )  # fmt: skip


def _one_of(value: str, path: Path, known: list[str], problems: Errors) -> None:
    if not value:
        problems.required(path)
    elif value not in known:
        problems.unsupported(path, value, known)


def _connection(given: Mapping[str, Any], path: Path, problems: Errors) -> str:
    type_, file = given.get("type", ""), given.get("kubeConfigFile", "")
    where = path / "kubeConfigFile"
    if not type_:
        problems.required(path / "type")
    elif type_ == "InClusterConfig":
        # The server is what such a configuration leads to: there is nothing in its own process to read it from.
        problems.forbidden(path / "type", "this server has no in-cluster configuration, use KubeConfigFile")
    elif type_ != "KubeConfigFile":
        problems.unsupported(path / "type", type_, ["InClusterConfig", "KubeConfigFile"])
    elif not file:
        problems.required(where)
    elif not os.path.isabs(file):
        problems.invalid(where, file, "must be an absolute path")
    elif not os.path.exists(file):
        problems.invalid(where, file, f"error loading file: stat {file}: no such file or directory")
    elif not File(file).is_file():
        problems.invalid(where, file, "must be a regular file")
    return str(file)
