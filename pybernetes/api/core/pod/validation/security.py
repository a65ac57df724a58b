"""Checks of security contexts, of the pod and of containers."""

from __future__ import annotations

import re

from pybernetes.api.core.pod.sysctls import namespace as kernel_namespace
from pybernetes.api.core.pod.validation.go_structs import show
from pybernetes.api.core.pod.validation.windows import validate_windows_options
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks

_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
_SYSCTL = r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_sysctl = re.compile(_SYSCTL + r"\Z")
_PATH_LIMIT = 4095


def validate_container_security(context: Object, host_users: bool, path: Path, errors: Errors) -> None:
    """Check the security context of a container."""
    for key in ("runAsUser", "runAsGroup"):
        if key in context:
            checks.user_id(context[key], path / key, errors)
    proc = context.get("procMount")
    if proc is not None:
        checks.one_of(proc, ("Default", "Unmasked"), path / "procMount", errors)
        if host_users and proc == "Unmasked":
            errors.invalid(path / "procMount", proc, "`hostUsers` must be false to use `Unmasked`")
    if "seccompProfile" in context:
        _seccomp(context["seccompProfile"], path / "seccompProfile", errors)
    if context.get("allowPrivilegeEscalation") is False:
        start = "cannot set `allowPrivilegeEscalation` to false and "
        if context.get("privileged"):
            errors.invalid(path, show("SecurityContext", context), start + "`privileged` to true")
        for capability in context.get("capabilities", {}).get("add", ()):
            if capability == "CAP_SYS_ADMIN":
                text = start + "`capabilities.Add` CAP_SYS_ADMIN"
                errors.invalid(path, show("SecurityContext", context), text)
    if "windowsOptions" in context:
        validate_windows_options(context["windowsOptions"], path / "windowsOptions", errors)
    if "appArmorProfile" in context:
        _app_armor(context["appArmorProfile"], path / "appArmorProfile", errors)


def validate_pod_security(context: Object, spec: Object, path: Path, errors: Errors) -> None:
    """Check the security context of a pod."""
    for key in ("fsGroup", "runAsUser", "runAsGroup"):
        if key in context:
            checks.user_id(context[key], path / key, errors)
    for index, group in enumerate(context.get("supplementalGroups", ())):
        checks.user_id(group, (path / "supplementalGroups")[index], errors)
    if "sysctls" in context:
        _sysctls(context["sysctls"], spec, path / "sysctls", errors)
    if "fsGroupChangePolicy" in context:
        allowed = ("Always", "OnRootMismatch")
        checks.one_of(context["fsGroupChangePolicy"], allowed, path / "fsGroupChangePolicy", errors)
    if "seccompProfile" in context:
        _seccomp(context["seccompProfile"], path / "seccompProfile", errors)
    if "windowsOptions" in context:
        validate_windows_options(context["windowsOptions"], path / "windowsOptions", errors)
    if "appArmorProfile" in context:
        _app_armor(context["appArmorProfile"], path / "appArmorProfile", errors)
    if "supplementalGroupsPolicy" in context:
        policy = context["supplementalGroupsPolicy"]
        checks.one_of(policy, ("Merge", "Strict"), path / "supplementalGroupsPolicy", errors)
    if "seLinuxChangePolicy" in context:
        policy = context["seLinuxChangePolicy"]
        checks.one_of(policy, ("MountOption", "Recursive"), path / "seLinuxChangePolicy", errors)


def _seccomp(profile: Object, path: Path, errors: Errors) -> None:
    kind, local = profile.get("type", ""), profile.get("localhostProfile")
    if not kind:
        errors.required(path / "type", "type is required when seccompProfile is set")
    else:
        checks.one_of(kind, _PROFILES, path / "type", errors)
    if kind == "Localhost":
        if local is None:
            errors.required(path / "localhostProfile", "must be set when seccomp type is Localhost")
        else:
            checks.descending_path(local, path / "localhostProfile", errors)
    elif local is not None:
        shown = show("SeccompProfile", profile)
        errors.invalid(path / "localhostProfile", shown, "can only be set when seccomp type is Localhost")


def _app_armor(profile: Object, path: Path, errors: Errors) -> None:
    kind, local = profile.get("type", ""), profile.get("localhostProfile")
    here = path / "localhostProfile"
    if kind == "Localhost":
        if local is None or local == "":
            errors.required(here, "must be set when AppArmor type is Localhost")
        elif local != local.strip():
            errors.invalid(here, local, "must not be padded with whitespace")
        if local and len(local.encode()) > _PATH_LIMIT:
            errors.too_long(here, _PATH_LIMIT)
    elif kind in _PROFILES:
        if local is not None:
            errors.invalid(here, local, "can only be set when AppArmor type is Localhost")
    elif not kind:
        errors.required(path / "type", "type is required when appArmorProfile is set")
    else:
        errors.unsupported(path / "type", kind, _PROFILES)


def _sysctls(sysctls: list[Object], spec: Object, path: Path, errors: Errors) -> None:
    seen: set[str] = set()
    for index, item in enumerate(sysctls):
        name = item.get("name", "")
        here = path[index] / "name"
        if not name:
            errors.required(here)
        elif len(name.encode()) > 253 or not _sysctl.match(name):
            errors.invalid(here, name, f"must have at most 253 characters and match regex ^{_SYSCTL}$")
        elif name in seen:
            errors.duplicate(here, name)
        seen.add(name)
        space = kernel_namespace(name)
        if space == "Net" and spec.get("hostNetwork"):
            errors.invalid(here, name, "may not be specified when 'hostNetwork' is true")
        elif space == "IPC" and spec.get("hostIPC"):
            errors.invalid(here, name, "may not be specified when 'hostIPC' is true")
