"""What a container may do to the kernel: privileged mode, escalation, capabilities, /proc, sysctls."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.api.core.pod.security_standards.checks.violations import (
    Violation,
    containers,
    context,
    in_user_namespace,
    is_windows,
    named,
    quoted,
)
from pybernetes.api.resource import Object

_CAPABILITIES = frozenset(
    {"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
     "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"}
)  # fmt: skip


def privileged(metadata: Object, spec: Object) -> Violation | None:
    """Require that no container is privileged."""
    names = [
        container.get("name", "") for container in containers(spec) if context(container).get("privileged")
    ]
    if not names:
        return None
    return Violation("privileged", f"{named(names)} must not set securityContext.privileged=true")


def escalation(metadata: Object, spec: Object) -> Violation | None:
    """Require that every container gives up the means to get more privileges."""
    names = [
        container.get("name", "")
        for container in containers(spec)
        if context(container).get("allowPrivilegeEscalation") is not False
    ]
    if not names:
        return None
    detail = f"{named(names)} must set securityContext.allowPrivilegeEscalation=false"
    return Violation("allowPrivilegeEscalation != false", detail)


def escalation_linux(metadata: Object, spec: Object) -> Violation | None:
    """Require the same, but for pods on Windows, where it means nothing."""
    return None if is_windows(spec) else escalation(metadata, spec)


def _added(container: Object) -> list[str]:
    return (context(container).get("capabilities") or {}).get("add") or []


def _adding(spec: Object, allowed: frozenset[str]) -> tuple[list[str], set[str]]:
    names: list[str] = []
    forbidden: set[str] = set()
    for container in containers(spec):
        forbidden_here = [capability for capability in _added(container) if capability not in allowed]
        if forbidden_here:
            names.append(container.get("name", ""))
            forbidden.update(forbidden_here)
    return names, forbidden


def capabilities(metadata: Object, spec: Object) -> Violation | None:
    """Require that no container adds capabilities that a runtime does not give anyway."""
    names, forbidden = _adding(spec, _CAPABILITIES)
    if not names:
        return None
    detail = (
        f"{named(names)} must not include {quoted(sorted(forbidden))} in securityContext.capabilities.add"
    )
    return Violation("non-default capabilities", detail)


def no_capabilities(metadata: Object, spec: Object) -> Violation | None:
    """Require that every container drops all capabilities and adds at most the one for low ports."""
    keeping = [
        container.get("name", "")
        for container in containers(spec)
        if "ALL" not in ((context(container).get("capabilities") or {}).get("drop") or ())
    ]
    names, forbidden = _adding(spec, frozenset({"NET_BIND_SERVICE"}))
    details = []
    if keeping:
        details.append(f'{named(keeping)} must set securityContext.capabilities.drop=["ALL"]')
    if names:
        listed = quoted(sorted(forbidden))
        details.append(f"{named(names)} must not include {listed} in securityContext.capabilities.add")
    return Violation("unrestricted capabilities", "; ".join(details)) if details else None


def no_capabilities_linux(metadata: Object, spec: Object) -> Violation | None:
    """Require the same, but for pods on Windows, where it means nothing."""
    return None if is_windows(spec) else no_capabilities(metadata, spec)


def proc_mount(metadata: Object, spec: Object) -> Violation | None:
    """Require that no container sees the parts of /proc that are usually hidden."""
    names: list[str] = []
    types: set[str] = set()
    for container in containers(spec):
        type_ = context(container).get("procMount")
        if type_ is not None and type_ != "Default":
            names.append(container.get("name", ""))
            types.add(type_)
    if not names:
        return None
    return Violation(
        "procMount", f"{named(names)} must not set securityContext.procMount to {quoted(sorted(types))}"
    )


def proc_mount_on_host(metadata: Object, spec: Object) -> Violation | None:
    """Require the same, unless the pod is in a user namespace of its own."""
    return None if in_user_namespace(spec) else proc_mount(metadata, spec)


_SYSCTLS = {
    0: ("kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies",
        "net.ipv4.ping_group_range", "net.ipv4.ip_unprivileged_port_start"),
    27: ("net.ipv4.ip_local_reserved_ports",),
    29: ("net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl",
         "net.ipv4.tcp_keepalive_probes"),
    32: ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"),
    37: ("net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_notsent_lowat"),
}  # fmt: skip
SYSCTL_VERSIONS = tuple(_SYSCTLS)


def sysctls(version: int) -> Callable[[Object, Object], Violation | None]:
    """Require that only kernel parameters of the pod's own are set, those that were known at a version."""
    allowed = {name for since, names in _SYSCTLS.items() if since <= version for name in names}

    def check(metadata: Object, spec: Object) -> Violation | None:
        given = [sysctl.get("name", "") for sysctl in context(spec).get("sysctls") or ()]
        forbidden = [name for name in given if name not in allowed]
        return Violation("forbidden sysctls", ", ".join(forbidden)) if forbidden else None

    return check
