"""Which kernel settings pods may have: the safe ones, and those that the administrator allows."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pybernetes.api.core.pod import sysctls
from pybernetes.api.resource import Object

_SAFE = (
    "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range",
    "net.ipv4.ip_unprivileged_port_start", "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_notsent_lowat",
)  # fmt: skip
_SEGMENT = r"[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_PATTERN = rf"({_SEGMENT}[\./])*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]"
_pattern = re.compile(_PATTERN + r"\Z")


def validate_pattern(pattern: str) -> None:
    """Raise ValueError if an administrator cannot allow this: settings of the whole machine are not a pod's."""
    if len(pattern) > 253 or not _pattern.match(pattern):
        raise ValueError(f'sysctl "{pattern}" must have at most 253 characters and match regex {_PATTERN}')
    if not sysctls.namespace(pattern):
        name = sysctls.normalized(pattern).partition("*")[0]
        raise ValueError(f'the sysctls "{name}" are not known to be namespaced')


def sysctl_problem(spec: Object, allowed: Iterable[str]) -> str | None:
    """Return what is wrong with the first setting of a pod that it may not have."""
    wanted = (spec.get("securityContext") or {}).get("sysctls", ())
    if not wanted:
        return None
    shared = {
        "Net": bool(spec.get("hostNetwork")),
        "IPC": bool(spec.get("hostIPC")),
        "User": spec.get("hostUsers") is not False,
    }
    patterns = [*_SAFE, *map(sysctls.normalized, allowed)]
    for sysctl in wanted:
        name = sysctls.normalized(sysctl["name"])
        if not any(_matches(pattern, name) for pattern in patterns):
            return f'"{name}" not allowlisted'
        space = sysctls.namespace(name)
        if shared.get(space):
            return f'"{name}" not allowed with host {space} enabled'
    return None


def _matches(pattern: str, name: str) -> bool:
    prefix, star, _ = pattern.partition("*")
    return name.startswith(prefix) if star else name == pattern
