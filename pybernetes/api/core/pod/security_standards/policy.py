"""The policy of a namespace: a level and a version to enforce, to audit and to warn about."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pybernetes.api.field import Errors, Path

PRIVILEGED, BASELINE, RESTRICTED = LEVELS = ("privileged", "baseline", "restricted")
PREFIX = "pod-security.kubernetes.io/"
_MODES = ("enforce", "audit", "warn")
_LABELS = Path("metadata") / "labels"
_VERSION = re.compile(r"v1\.(0|[1-9][0-9]*)", re.ASCII)
# The newest version of all; versions are minor versions of Kubernetes 1.
LATEST = None


@dataclass(frozen=True, slots=True)
class Standard:
    """A level at a version."""

    level: str = PRIVILEGED
    version: int | None = LATEST

    def __str__(self) -> str:
        return f"{self.level}:{'latest' if self.version is None else f'v1.{self.version}'}"

    def equivalent(self, other: Standard) -> bool:
        """Return whether both let in the same pods."""
        return self == other or self.level == other.level == PRIVILEGED


@dataclass(frozen=True, slots=True)
class Policy:
    """What is refused, noted in the audit log, and warned about."""

    enforce: Standard = Standard()
    audit: Standard = Standard()
    warn: Standard = Standard()

    @property
    def privileged(self) -> bool:
        """Whether every pod is fine."""
        return self.enforce.level == self.audit.level == self.warn.level == PRIVILEGED

    def equivalent(self, other: Policy) -> bool:
        """Return whether both do the same."""
        return all(getattr(self, mode).equivalent(getattr(other, mode)) for mode in _MODES)


def strictness(level: str) -> int:
    """Return a number that grows with the strictness of a level."""
    return LEVELS.index(level)


def level_problem(text: str) -> str:
    """Return what is wrong with the name of a level, or nothing."""
    return "" if text in LEVELS else f"must be one of {', '.join(LEVELS)}"


def version_problem(text: str) -> str:
    """Return what is wrong with a version, or nothing."""
    return "" if text == "latest" or _VERSION.fullmatch(text) else 'must be "latest" or "v1.x"'


def version_number(text: str) -> int | None:
    """Return the minor version that a text names; the latest if it names none."""
    match = _VERSION.fullmatch(text)
    return int(match.group(1)) if match else LATEST


def policy_of(labels: Mapping[str, str], defaults: Policy, errors: Errors) -> Policy:
    """Return the policy that labels ask for; where they are wrong, only the strictest is enforced."""
    standards = {mode: getattr(defaults, mode) for mode in _MODES}
    enforced_well = False
    for mode in _MODES:
        label, text = PREFIX + mode, labels.get(PREFIX + mode)
        if text is not None:
            problem = level_problem(text)
            if problem:
                errors.invalid(_LABELS[label], text, problem)
                text = RESTRICTED if mode == "enforce" else PRIVILEGED
            elif mode == "enforce":
                enforced_well = True
            standards[mode] = replace(standards[mode], level=text)
        label = f"{PREFIX}{mode}-version"
        text = labels.get(label)
        if text is not None:
            problem = version_problem(text)
            if problem:
                errors.invalid(_LABELS[label], text, problem)
            standards[mode] = replace(standards[mode], version=version_number(text))
    enforce, warn = standards["enforce"], standards["warn"]
    # What would be refused in a pod is worth a warning in a template.
    if enforced_well and PREFIX + "warn" not in labels and strictness(enforce.level) > strictness(warn.level):
        explicit = f"{PREFIX}warn-version" in labels
        standards["warn"] = Standard(enforce.level, warn.version if explicit else enforce.version)
    return Policy(**standards)
