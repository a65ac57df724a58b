"""How checks run: all of them, so that people learn of everything at once."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from pybernetes.tools.kubeadm.errors import KubeadmError


@dataclass
class Findings:
    """What a check found."""

    warnings: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


class Check(Protocol):
    """One check; its name is what ``--ignore-preflight-errors`` takes."""

    @property
    def name(self) -> str: ...

    async def check(self) -> Findings: ...


def problem(*texts: str) -> Findings:
    """Return findings that are errors."""
    return Findings(errors=list(texts))


async def run(checks: Iterable[Check], ignored: frozenset[str]) -> None:
    """Run checks; what is wrong is listed before the KubeadmError. Errors of ignored checks are warnings."""
    wrong: list[str] = []
    for check in checks:
        findings = await check.check()
        warnings, errors = findings.warnings, findings.errors
        if check.name.lower() in ignored or "all" in ignored:
            warnings, errors = [*warnings, *errors], []
        for text in warnings:
            print(f"\t[WARNING {check.name}]: {text}", file=sys.stderr, flush=True)
        wrong += [f"\t[ERROR {check.name}]: {text}" for text in errors]
    if wrong:
        hint = "If you know what you are doing, you can make a check non-fatal with `--ignore-preflight-errors=...`"
        lines = ["[preflight] Some fatal errors occurred:", *wrong, f"[preflight] {hint}"]
        print("\n".join(lines), file=sys.stderr, flush=True)
        raise KubeadmError("preflight checks failed")


def ignored_names(*given: Iterable[str]) -> frozenset[str]:
    """Return the names of checks to ignore; ValueError-like message if ``all`` is not alone."""
    names = frozenset(name.strip().lower() for listed in given for name in listed if name.strip())
    if "all" in names and len(names) > 1:
        shown = ",".join(sorted(names))
        raise KubeadmError(
            f"ignore-preflight-errors: Invalid value: \"{shown}\": don't specify individual checks if 'all' is used"
        )
    return names
