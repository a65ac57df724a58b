"""ABAC: a file with one policy on each line says what users and groups may. It is read once, when the server starts."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import orjson

from pybernetes.control_plane.apiserver.authn.user import AUTHENTICATED, User
from pybernetes.control_plane.apiserver.authz.authorizer import Mode
from pybernetes.control_plane.apiserver.authz.verdict import ALLOWED, Rules, Verdict
from pybernetes.control_plane.apiserver.request_info import RequestInfo
from pybernetes.lib.flags import Flag

FLAGS = (Flag("authorization-policy-file", "", "file with the policies of the mode ABAC, one on each line"),)
VERSION, KIND = "abac.authorization.kubernetes.io/v1beta1", "Policy"
_READS = ("get", "list", "watch")
_NO = Verdict(reason="No policy matched.")


@dataclass(frozen=True, slots=True)
class Policy:
    """One line: whom it is for, and what they may. Fields have upstream's names, so that none is read by another."""

    user: str = ""
    group: str = ""
    readonly: bool = False
    apiGroup: str = ""
    resource: str = ""
    namespace: str = ""
    nonResourcePath: str = ""

    def concerns(self, user: User) -> bool:
        """Return whether the policy is for a user; one that names neither a user nor a group is for nobody."""
        if not self.user and not self.group:
            return False
        return (not self.user or self.user == user.name) and (not self.group or self.group in user.groups)

    def covers(self, info: RequestInfo) -> bool:
        """Return whether the policy allows a request of one of its users."""
        if self.readonly and info.verb not in _READS:
            return False
        if info.is_resource:
            return (
                self.namespace in ("*", info.namespace)
                and self.resource in ("*", info.resource)
                and self.apiGroup in ("*", info.group)
            )
        path = self.nonResourcePath
        return path in ("*", info.path) or (path.endswith("*") and info.path.startswith(path.rstrip("*")))


def policy(line: bytes) -> Policy:
    """Read a line; ValueError says what is wrong with it."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"couldn't get version/kind; json parse error: {error}") from None
    if not isinstance(value, dict) or (value.get("apiVersion"), value.get("kind")) != (VERSION, KIND):
        raise ValueError(
            f"only {KIND} of {VERSION} is read here; lines without a version are of a format that is long gone"
        )
    spec = value.get("spec") or {}
    if not isinstance(spec, dict):
        raise ValueError("json: cannot unmarshal into Go struct field Policy.spec of type v1beta1.PolicySpec")
    given: dict[str, Any] = {}
    for field in fields(Policy):
        kind, name = (bool, "bool") if field.name == "readonly" else (str, "string")
        setting = spec.get(field.name)
        if setting is None:
            continue
        if not isinstance(setting, kind):
            raise ValueError(
                f"json: cannot unmarshal into Go struct field PolicySpec.spec.{field.name} of type {name}"
            )
        given[field.name] = setting
    if "*" in (given.get("user"), given.get("group")):
        given |= {"user": "", "group": AUTHENTICATED}  # everybody who is somebody
    return Policy(**given)


def read(path: Path) -> list[Policy]:
    """Read a file; ValueError names the line that is wrong."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise ValueError(f"open {path}: {(error.strerror or str(error)).lower()}") from None
    return list(_policies(path, lines))


def _policies(path: Path, lines: list[bytes]) -> Iterator[Policy]:
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text and not text.startswith(b"#"):
            try:
                yield policy(text)
            except ValueError as error:
                shown = text.decode(errors="replace")
                raise ValueError(
                    f"error reading policy file {path}, line {number}: {shown}: {error}"
                ) from None


class Abac:
    """The authorizer."""

    name = "ABAC"

    def __init__(self, policies: list[Policy]) -> None:
        self._policies = policies

    def start(self) -> None:
        """Follow nothing: the file is read once, as upstream reads it."""

    def authorize(self, user: User, info: RequestInfo) -> Verdict:
        """Allow what a policy allows; otherwise another authorizer may do so."""
        for known in self._policies:
            if known.concerns(user) and known.covers(info):
                return ALLOWED
        return _NO

    def rules(self, user: User, namespace: str) -> Rules:
        """Return what policies allow a user in a namespace."""
        result = Rules()
        for known in self._policies:
            if not known.concerns(user) or known.namespace not in ("*", namespace):
                continue
            verbs = list(_READS) if known.readonly else ["*"]
            if known.resource:
                result.rules.append(
                    {"verbs": verbs, "apiGroups": [known.apiGroup], "resources": [known.resource]}
                )
            if known.nonResourcePath:
                result.rules.append({"verbs": verbs, "nonResourceURLs": [known.nonResourcePath]})
        return result


def check(arguments: argparse.Namespace) -> None:
    """Raise ValueError if there is no file, or one that makes no sense."""
    if not arguments.authorization_policy_file:
        raise ValueError("authorization-mode ABAC's authorization policy file not passed")
    read(Path(arguments.authorization_policy_file))


MODE = Mode(
    "ABAC",
    lambda context, arguments: Abac(read(Path(arguments.authorization_policy_file))),
    FLAGS,
    check,
)
