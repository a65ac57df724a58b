"""The confinement by AppArmor, SELinux and seccomp, which may not be weakened."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.api.core.pod.security_standards.checks.violations import (
    Violation,
    containers,
    context,
    is_windows,
    named,
    plural,
    quoted,
    setters,
)
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format

_CONFINED = ("RuntimeDefault", "Localhost")
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
_SECCOMP_VALUES = ("runtime/default", "docker/default")


def _type(holder: Object, key: str) -> str | None:
    """Return the type of a profile, None if none is set."""
    profile = context(holder).get(key)
    return None if profile is None else profile.get("type", "")


def _unconfined(spec: Object, key: str) -> tuple[bool, list[str], set[str]]:
    """Return whether the pod sets a bad profile, which containers do, and what they set."""
    types: set[str] = set()
    of_pod = _type(spec, key)
    pod = of_pod is not None and of_pod not in _CONFINED
    if pod:
        types.add(of_pod or "")
    names = []
    for container in containers(spec):
        type_ = _type(container, key)
        if type_ is not None and type_ not in _CONFINED:
            names.append(container.get("name", ""))
            types.add(type_)
    return pod, names, types


def app_armor(metadata: Object, spec: Object) -> Violation | None:
    """Require that nothing is taken out of AppArmor's confinement, by field or by annotation."""
    pod, names, types = _unconfined(spec, "appArmorProfile")
    annotations = sorted(
        f"{key}={go_format.quote(value)}"
        for key, value in (metadata.get("annotations") or {}).items()
        if key.startswith(_APP_ARMOR) and value and value != "runtime/default"
        and not value.startswith("localhost/")
    )  # fmt: skip
    who = [text for text in (setters(pod, names),) if text]
    if annotations:
        who.append(plural("annotation", annotations))
    if not who:
        return None
    values = sorted(types) + annotations
    detail = f"{' and '.join(who)} must not set AppArmor profile type to {quoted(values)}"
    return Violation(plural("forbidden AppArmor profile", values), detail)


def _annotation_allowed(value: str) -> bool:
    return value in _SECCOMP_VALUES or value.startswith("localhost/")


def seccomp_annotations(metadata: Object, spec: Object) -> Violation | None:
    """Require that no annotation takes the filter of system calls away, as was done before there was a field."""
    annotations = metadata.get("annotations") or {}
    keys = {_SECCOMP_POD, *(_SECCOMP_CONTAINER + container.get("name", "") for container in containers(spec))}
    forbidden = sorted(
        f"{key}={go_format.quote(annotations[key])}"
        for key in keys
        if key in annotations and not _annotation_allowed(annotations[key])
    )
    if not forbidden:
        return None
    return Violation("seccompProfile", f"forbidden {plural('annotation', forbidden)} {', '.join(forbidden)}")


def seccomp(metadata: Object, spec: Object) -> Violation | None:
    """Require that nothing takes the filter of system calls away."""
    pod, names, types = _unconfined(spec, "seccompProfile")
    if not pod and not names:
        return None
    detail = (
        f"{setters(pod, names)} must not set securityContext.seccompProfile.type to {quoted(sorted(types))}"
    )
    return Violation("seccompProfile", detail)


def seccomp_required(metadata: Object, spec: Object) -> Violation | None:
    """Require that every container has a filter of system calls."""
    bad = seccomp(metadata, spec)
    if bad is not None:
        return bad
    if _type(spec, "seccompProfile") is not None:
        return None
    names = [
        container.get("name", "")
        for container in containers(spec)
        if _type(container, "seccompProfile") is None
    ]
    if not names:
        return None
    types = '"RuntimeDefault" or "Localhost"'
    return Violation(
        "seccompProfile", f"pod or {named(names)} must set securityContext.seccompProfile.type to {types}"
    )


def seccomp_required_linux(metadata: Object, spec: Object) -> Violation | None:
    """Require the same, but for pods on Windows, where it means nothing."""
    return None if is_windows(spec) else seccomp_required(metadata, spec)


_SELINUX = {
    0: frozenset({"", "container_t", "container_init_t", "container_kvm_t"}),
    31: frozenset({"", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"}),
}


def selinux(version: int) -> Callable[[Object, Object], Violation | None]:
    """Require that only SELinux types for containers are set, those of a version, and neither user nor role."""
    allowed = _SELINUX[version]

    def check(metadata: Object, spec: Object) -> Violation | None:
        types: set[str] = set()
        told: set[str] = set()

        def bad(holder: Object) -> bool:
            options = context(holder).get("seLinuxOptions") or {}
            wrong = {options.get("type", "")} - allowed
            named_parts = {part for part in ("user", "role") if options.get(part)}
            types.update(wrong)
            told.update(named_parts)
            return bool(wrong or named_parts)

        pod = bad(spec)
        names = [container.get("name", "") for container in containers(spec) if bad(container)]
        if not pod and not names:
            return None
        data = [f"{plural('type', types)} {quoted(sorted(types))}"] if types else []
        data += [f"{part} may not be set" for part in ("user", "role") if part in told]
        detail = f"{setters(pod, names)} set forbidden securityContext.seLinuxOptions: {'; '.join(data)}"
        return Violation("seLinuxOptions", detail)

    return check
