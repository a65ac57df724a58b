"""Judges a cluster by all sections, and prints the verdicts."""

from __future__ import annotations

import json
from collections import Counter
from typing import NamedTuple

from pybernetes.lib import discover
from pybernetes.tools.audit_security.check import Check, Finding, State
from pybernetes.tools.audit_security.cluster_inputs import ClusterInputs

_PACKAGE = "pybernetes.tools.audit_security.sections"


class Verdict(NamedTuple):
    """A recommendation with what was found."""

    check: Check
    finding: Finding


def checks() -> list[Check]:
    """Return all recommendations, in the order of their numbers."""
    checks = [check for section in discover.discover(_PACKAGE, "CHECKS").values() for check in section]
    return sorted(checks, key=lambda check: [int(part) for part in check.number.split(".")])


def judge(inputs: ClusterInputs) -> list[Verdict]:
    """Return the verdict on every recommendation."""
    return [Verdict(check, check.examine(inputs)) for check in checks()]


def as_text(verdicts: list[Verdict]) -> str:
    """Return a table for people, and what to look at first."""
    lines = []
    for check, finding in verdicts:
        detail = f": {finding.text}" if finding.text else ""
        lines.append(f"{finding.state.upper():<7}{check.number:<8}{check.title}{detail}")
    counts = Counter(finding.state for _, finding in verdicts)
    lines.append("\n" + ", ".join(f"{counts[state]} {state}" for state in State if counts[state]))
    return "\n".join(lines)


def as_json(verdicts: list[Verdict]) -> str:
    """Return the same for programs."""
    rows = [
        {"number": check.number, "title": check.title, "state": finding.state, "text": finding.text}
        for check, finding in verdicts
    ]
    return json.dumps({"checks": rows}, indent=2)


def as_markdown(verdicts: list[Verdict]) -> str:
    """Return the table of the documentation."""
    rows = [
        f"| {check.number} | {check.title} | {finding.state} | {finding.text} |"
        for check, finding in verdicts
    ]
    return "\n".join(["| number | recommendation | state | why |", "|---|---|---|---|", *rows])
