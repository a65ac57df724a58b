"""Judge a pod at a level and version of the standards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pybernetes.api.core.pod.security_standards.checks import host, privileges, profiles, users, volumes
from pybernetes.api.core.pod.security_standards.checks.violations import Violation
from pybernetes.api.core.pod.security_standards.policy import BASELINE, PRIVILEGED, RESTRICTED, Standard
from pybernetes.api.resource import Object

Function = Callable[[Object, Object], "Violation | None"]


@dataclass(frozen=True, slots=True)
class Check:
    """A check that gets other functions with some versions.

    ``replaces`` names the check of the baseline that it makes redundant in the restricted level, from its
    own first version on.
    """

    name: str
    level: str
    versions: dict[int, Function]
    replaces: str = ""

    def at(self, version: int) -> Function | None:
        """Return the function at a version, None before the first."""
        versions = [since for since in self.versions if since <= version]
        return self.versions[max(versions)] if versions else None


CHECKS = (
    Check("appArmorProfile", BASELINE, {0: profiles.app_armor}),
    Check("capabilities_baseline", BASELINE, {0: privileges.capabilities}),
    Check("hostNamespaces", BASELINE, {0: host.namespaces}),
    Check("hostPathVolumes", BASELINE, {0: host.paths}),
    Check("hostPorts", BASELINE, {0: host.ports}),
    Check("hostProbesAndHostLifecycle", BASELINE, {34: host.handler_hosts}),
    Check("privileged", BASELINE, {0: privileges.privileged}),
    Check("procMount", BASELINE, {0: privileges.proc_mount, 35: privileges.proc_mount_on_host}),
    Check("seLinuxOptions", BASELINE, {0: profiles.selinux(0), 31: profiles.selinux(31)}),
    Check("seccompProfile_baseline", BASELINE, {0: profiles.seccomp_annotations, 19: profiles.seccomp}),
    Check("sysctls", BASELINE, {version: privileges.sysctls(version) for version in privileges.SYSCTL_VERSIONS}),
    Check("windowsHostProcess", BASELINE, {0: host.windows_processes}),
    Check("allowPrivilegeEscalation", RESTRICTED, {8: privileges.escalation, 25: privileges.escalation_linux}),
    Check("capabilities_restricted", RESTRICTED,
          {22: privileges.no_capabilities, 25: privileges.no_capabilities_linux}, "capabilities_baseline"),
    Check("procMount_restricted", RESTRICTED, {35: privileges.proc_mount}, "procMount"),
    Check("restrictedVolumes", RESTRICTED, {0: volumes.restricted}, "hostPathVolumes"),
    Check("runAsNonRoot", RESTRICTED, {0: users.non_root, 35: users.non_root_on_host}),
    Check("runAsUser", RESTRICTED, {23: users.user, 35: users.user_on_host}),
    Check("seccompProfile_restricted", RESTRICTED,
          {19: profiles.seccomp_required, 25: profiles.seccomp_required_linux}, "seccompProfile_baseline"),
)  # fmt: skip
# Nothing changed after this version.
NEWEST = max(version for check in CHECKS for version in check.versions)


def _functions(level: str, version: int) -> tuple[Function, ...]:
    if level == PRIVILEGED:
        return ()
    current = {check.name: function for check in CHECKS if (function := check.at(version)) is not None}
    if level == BASELINE:
        wanted = [check.name for check in CHECKS if check.level == BASELINE]
    else:
        replaced = {check.replaces for check in CHECKS if check.name in current}
        wanted = [check.name for check in CHECKS if check.name not in replaced]
    return tuple(current[name] for name in wanted if name in current)


_TABLE = {
    (level, version): _functions(level, version)
    for level in (PRIVILEGED, BASELINE, RESTRICTED)
    for version in range(NEWEST + 1)
}


def evaluate(standard: Standard, metadata: Object, spec: Object) -> list[Violation]:
    """Return all that is wrong with a pod, in the order in which messages name it."""
    version = NEWEST if standard.version is None else min(standard.version, NEWEST)
    violations = (check(metadata, spec) for check in _TABLE[standard.level, version])
    return [violation for violation in violations if violation is not None]


def reasons(violations: Sequence[Violation]) -> str:
    """Return what is wrong, in short."""
    return ", ".join(violation.reason for violation in violations)


def details(violations: Sequence[Violation]) -> str:
    """Return what is wrong, and where."""
    return ", ".join(f"{reason} ({detail})" if detail else reason for reason, detail in violations)
