"""Checks of what pods for Windows may have, and of what other pods may not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks, names

_CREDENTIALS_LIMIT = 64 * 1024
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NETBIOS = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}\Z')
_DNS_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DNS = re.compile(rf"{_DNS_LABEL}(?:\.{_DNS_LABEL})*\Z")
_BAD_USER = re.compile(r'["/\\:;|=,+*?<>@\[\]]')
_ONLY_DOTS = re.compile(r"[. ]+\Z")
_POD_FORBIDDEN = ("appArmorProfile", "seLinuxOptions", "seccompProfile", "fsGroup", "fsGroupChangePolicy", "sysctls",
                  "runAsUser", "runAsGroup", "supplementalGroups", "supplementalGroupsPolicy",
                  "seLinuxChangePolicy")  # fmt: skip
_CONTAINER_FORBIDDEN = ("appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities",
                        "readOnlyRootFilesystem", "privileged", "allowPrivilegeEscalation", "procMount", "runAsUser",
                        "runAsGroup")  # fmt: skip
_NOT_ON_WINDOWS = "cannot be set for a windows pod"


CONTAINER_LISTS = ("initContainers", "containers", "ephemeralContainers")


def each_container(spec: Object, path: Path) -> Iterator[tuple[Object, Path]]:
    """Return every container of all types with its path."""
    for key in CONTAINER_LISTS:
        if key in spec:
            for index, container in enumerate(spec[key]):
                yield container, (path / key)[index]


def validate_windows_options(options: Object, path: Path, errors: Errors) -> None:
    """Check the Windows part of a security context."""
    if "gmsaCredentialSpecName" in options:
        name = options["gmsaCredentialSpecName"]
        checks.name(names.dns_subdomain, name, path / "gmsaCredentialSpecName", errors)
    credentials = options.get("gmsaCredentialSpec")
    if credentials == "":
        errors.invalid(path / "gmsaCredentialSpec", "", "gmsaCredentialSpec cannot be an empty string")
    elif credentials and len(credentials.encode()) > _CREDENTIALS_LIMIT:
        text = "gmsaCredentialSpec size must be under 64 KiB"
        errors.invalid(path / "gmsaCredentialSpec", credentials, text)
    if "runAsUserName" in options:
        for problem in _user_name_problems(options["runAsUserName"]):
            errors.invalid(path / "runAsUserName", options["runAsUserName"], f"runAsUserName{problem}")


def _user_name_problems(name: str) -> Iterator[str]:
    if not name:
        yield " cannot be an empty string"
        return
    if _CONTROL.search(name):
        yield " cannot contain control characters"
        return
    parts = name.split("\\")
    if len(parts) > 2:
        yield " cannot contain more than one backslash"
        return
    user = parts[-1]
    if len(parts) == 2:
        if len(parts[0].encode()) >= 256:
            yield "'s Domain length must be under 256 characters"
        if not _NETBIOS.match(parts[0]) and not _DNS.match(parts[0]):
            yield "'s Domain doesn't match the NetBios nor the DNS format"
    if not user:
        yield "'s User cannot be empty"
    elif len(user.encode()) > 104:
        yield "'s User length must not be longer than 104 characters"
    if _ONLY_DOTS.match(user):
        yield "'s User cannot contain only periods or spaces"
    if _BAD_USER.search(user):
        yield "'s User cannot contain the following characters: \"/\\:;|=,+*?<>@[]"


def validate_host_process(spec: Object, path: Path, errors: Errors) -> None:
    """Check containers that run as processes of a Windows host: all of them or none."""
    whole = spec.get("securityContext", {}).get("windowsOptions", {}).get("hostProcess")
    if whole is None and not any(
        "securityContext" in item for key in CONTAINER_LISTS for item in spec.get(key, ())
    ):
        return
    count = total = 0
    for container, here in each_container(spec, path):
        total += 1
        options = container.get("securityContext", {}).get("windowsOptions")
        own = options.get("hostProcess") if options else None
        if whole is not None and own is not None and whole != own:
            text = f"pod hostProcess value must be identical if both are specified, was {str(whole).lower()}"
            errors.invalid(here / "securityContext" / "windowsOptions" / "hostProcess", own, text)
        count += bool(whole if own is None else own)
    if not count:
        return
    if count != total:
        text = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        errors.invalid(path, "", text)
    if not spec.get("hostNetwork"):
        text = "hostNetwork must be true if pod contains any hostProcess containers"
        errors.invalid(path / "hostNetwork", False, text)


def validate_os(spec: Object, path: Path, errors: Errors) -> None:
    """Check the operating system that a pod names, and that nothing of another one is set."""
    name = spec["os"].get("name", "")
    if not name:
        errors.required(path / "os" / "name")
    elif name == "linux":
        _linux(spec, path, errors)
    elif name == "windows":
        _windows(spec, path, errors)
    else:
        errors.unsupported(path / "os", name, ("linux", "windows"))


def _linux(spec: Object, path: Path, errors: Errors) -> None:
    text = "windows options cannot be set for a linux pod"
    if "windowsOptions" in spec.get("securityContext", ()):
        errors.forbidden(path / "securityContext" / "windowsOptions", text)
    for container, here in each_container(spec, path):
        if "windowsOptions" in container.get("securityContext", ()):
            errors.forbidden(here / "securityContext" / "windowsOptions", text)


def _windows(spec: Object, path: Path, errors: Errors) -> None:
    context = spec.get("securityContext", ())
    for key in _POD_FORBIDDEN:
        if key in context:
            errors.forbidden(path / "securityContext" / key, _NOT_ON_WINDOWS)
    for key in ("hostUsers", "hostPID", "hostIPC", "shareProcessNamespace"):
        if spec.get(key) or (key in spec and key not in ("hostPID", "hostIPC")):
            errors.forbidden(path / key, _NOT_ON_WINDOWS)
    for container, here in each_container(spec, path):
        own = container.get("securityContext", ())
        for key in _CONTAINER_FORBIDDEN:
            if key in own:
                errors.forbidden(here / "securityContext" / key, _NOT_ON_WINDOWS)
