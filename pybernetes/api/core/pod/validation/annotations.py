"""Checks of the annotations of pods that mean something to Kubernetes."""

from __future__ import annotations

import re

import orjson

from pybernetes.api.core.pod.validation.scheduling import validate_tolerations
from pybernetes.api.core.pod.validation.windows import each_container
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks

MIRROR = "kubernetes.io/config.mirror"
APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations"
_COST = "controller.kubernetes.io/pod-deletion-cost"
SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP = "container.seccomp.security.alpha.kubernetes.io/"
_LOCALHOST = "localhost/"
_INTEGER = re.compile(r"[+-]?(0|[1-9][0-9]*)\Z")


def validate_annotations(annotations: dict[str, str], spec: Object, path: Path, errors: Errors) -> None:
    """Check the annotations of a pod or template that have a meaning."""
    if MIRROR in annotations and not spec.get("nodeName"):
        text = "must set spec.nodeName if mirror pod annotation is set"
        errors.invalid(path[MIRROR], annotations[MIRROR], text)
    if annotations.get(_TOLERATIONS):
        _tolerations(annotations[_TOLERATIONS], path, errors)
    cost = annotations.get(_COST)
    if cost is not None and not _is_cost(cost):
        errors.invalid(path[_COST], cost, "must be a 32bit integer")
    if SECCOMP_POD in annotations:
        _seccomp(annotations[SECCOMP_POD], path / SECCOMP_POD, errors)
    for key, value in annotations.items():
        if key.startswith(SECCOMP):
            _seccomp(value, path / key, errors)
        elif key.startswith(APP_ARMOR):
            name = key.removeprefix(APP_ARMOR)
            if not any(container.get("name", "") == name for container, _ in each_container(spec, path)):
                errors.invalid(path[key], name, "container not found")
            if value not in ("", "runtime/default", "unconfined") and not value.startswith(_LOCALHOST):
                errors.invalid(path[key], value, f'invalid AppArmor profile name: "{value}"')


def app_armor_profile(annotation: str) -> Object | None:
    """Return the profile that an annotation about AppArmor stands for, or None if it stands for none."""
    kinds = {"unconfined": "Unconfined", "runtime/default": "RuntimeDefault"}
    if annotation in kinds:
        return {"type": kinds[annotation]}
    local = annotation.removeprefix(_LOCALHOST)
    return {"type": "Localhost", "localhostProfile": local} if local and local != annotation else None


def _is_cost(text: str) -> bool:
    # A sign before and zeros in front are not accepted, except for a plain zero.
    return bool(_INTEGER.match(text)) and not text.startswith("+") and -(2**31) <= int(text) < 2**31


def _tolerations(text: str, path: Path, errors: Errors) -> None:
    try:
        tolerations = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        errors.invalid(path, _TOLERATIONS, str(error))
        return
    if type(tolerations) is list and all(type(item) is dict for item in tolerations):
        texts = [{key: value for key, value in item.items() if type(value) is str} for item in tolerations]
        validate_tolerations(texts, path / _TOLERATIONS, errors)
    elif tolerations is not None:
        errors.invalid(path, _TOLERATIONS, "json: cannot unmarshal into Go value of type []core.Toleration")


def _seccomp(profile: str, path: Path, errors: Errors) -> None:
    if profile.startswith(_LOCALHOST):
        checks.descending_path(profile.removeprefix(_LOCALHOST), path, errors)
    elif profile not in ("runtime/default", "docker/default", "unconfined"):
        errors.invalid(path, profile, "must be a valid seccomp profile")


def validate_profiles_match(annotations: dict[str, str], spec: Object, path: Path, errors: Errors) -> None:
    """Check that old annotations about seccomp and AppArmor say the same as the fields."""
    whole = spec.get("securityContext", {})
    if SECCOMP_POD in annotations and "seccompProfile" in whole:
        here = path / "securityContext" / "seccompProfile"
        _match("seccomp", annotations[SECCOMP_POD], whole["seccompProfile"], here, errors)
    windows = spec.get("os", {}).get("name") == "windows"
    for container, here in each_container(spec, path):
        name, context = container.get("name", ""), container.get("securityContext", {})
        if SECCOMP + name in annotations and "seccompProfile" in context:
            place = here / "securityContext" / "seccompProfile"
            _match("seccomp", annotations[SECCOMP + name], context["seccompProfile"], place, errors)
        profile = context.get("appArmorProfile") or whole.get("appArmorProfile")
        if not windows and profile and APP_ARMOR + name in annotations:
            place = here / "securityContext" / "appArmorProfile"
            _match("apparmor", annotations[APP_ARMOR + name], profile, place, errors)


def _match(what: str, annotation: str, profile: Object, path: Path, errors: Errors) -> None:
    kind = profile.get("type")
    same = {
        "Unconfined": annotation == "unconfined",
        "RuntimeDefault": annotation == "runtime/default"
        or (what == "seccomp" and annotation == "docker/default"),
        "Localhost": annotation.startswith(_LOCALHOST),
    }
    if not same.get(kind or "", True):
        errors.forbidden(path / "type", f"{what} type in annotation and field must match")
    elif kind == "Localhost" and annotation.removeprefix(_LOCALHOST) != profile.get("localhostProfile"):
        errors.forbidden(path / "localhostProfile", f"{what} profile in annotation and field must match")
