"""The configuration: the policy of namespaces without labels, and what is exempt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pybernetes.api.core.pod.security_standards.policy import (
    PRIVILEGED,
    Policy,
    Standard,
    level_problem,
    version_number,
    version_problem,
)
from pybernetes.api.field import Errors, Path
from pybernetes.api.validation import names

_VERSIONS = tuple(
    f"pod-security.admission.config.k8s.io/{version}" for version in ("v1", "v1beta1", "v1alpha1")
)
_MODES = ("enforce", "audit", "warn")


@dataclass(frozen=True, slots=True)
class Configuration:
    """What the plugin is told."""

    defaults: Policy = field(default_factory=Policy)
    namespaces: frozenset[str] = frozenset()
    usernames: frozenset[str] = frozenset()
    runtime_classes: frozenset[str] = frozenset()

    @staticmethod
    def read(document: Any) -> Configuration:
        """Read a PodSecurityConfiguration; ValueError tells everything that is wrong with it."""
        if not document:
            return Configuration()
        version, kind = document.get("apiVersion"), document.get("kind")
        if kind != "PodSecurityConfiguration" or version not in _VERSIONS:
            raise ValueError(
                f"PodSecurity: expected a PodSecurityConfiguration of {_VERSIONS[0]}, not {kind} of {version}"
            )
        errors = Errors()
        defaults, exemptions = document.get("defaults") or {}, document.get("exemptions") or {}
        policy = Policy(**{mode: _standard(defaults, mode, errors) for mode in _MODES})
        exempt = {
            "namespaces": _exempt(exemptions, "namespaces", names.dns_label, errors),
            "runtime_classes": _exempt(exemptions, "runtimeClasses", names.dns_subdomain, errors),
            "usernames": _exempt(
                exemptions, "usernames", lambda name: [] if name else ["username must not be empty"], errors
            ),
        }
        if errors:
            raise ValueError(f"PodSecurity: {', '.join(str(error) for error in errors)}")
        return Configuration(policy, **exempt)


def _standard(defaults: dict[str, str], mode: str, errors: Errors) -> Standard:
    level = defaults.get(mode) or PRIVILEGED
    version = defaults.get(f"{mode}-version") or "latest"
    for key, text, problem in ((mode, level, level_problem), (f"{mode}-version", version, version_problem)):
        if problem(text):
            errors.invalid(Path("defaults") / key, text, problem(text))
    return Standard(level, version_number(version))


def _exempt(exemptions: dict[str, Any], key: str, check: Any, errors: Errors) -> frozenset[str]:
    exempt: set[str] = set()
    for index, name in enumerate(exemptions.get(key) or ()):
        path = (Path("exemptions") / key)[index]
        problems = check(name)
        if problems:
            errors.invalid(path, name, ", ".join(problems))
        elif name in exempt:
            errors.duplicate(path, name)
        exempt.add(name)
    return frozenset(exempt)
