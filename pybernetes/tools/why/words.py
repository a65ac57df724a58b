"""Prints an answer for people."""

from __future__ import annotations

import textwrap

from pybernetes.lib.printable import printable
from pybernetes.tools.why.finding import Answer, Finding, Link, listed, shortened

_MOST_FINDINGS = 50
_MOST_DETAILS = 20
_MOST_LINKS = 8


def text(answer: Answer, width: int) -> str:
    """Return an answer as lines; whatever objects say is made harmless."""
    lines = [f"{answer.about}: {answer.state}"]
    causes = [finding for finding in answer.findings if finding.cause]
    others = [finding for finding in answer.findings if not finding.cause]
    for finding in [*causes, *others][:_MOST_FINDINGS]:
        lines += _finding(finding, width)
    if not answer.findings:
        lines.append("  Nothing is the matter with it, as far as can be seen.")
    lines += [f"  note: {shortened(note)}" for note in answer.notes]
    return "\n".join(printable(line) for line in lines)


def _finding(finding: Finding, width: int) -> list[str]:
    lines = _wrapped(finding.title, "  ● " if finding.cause else "  ○ ", "    ", width)
    for detail in finding.details[:_MOST_DETAILS]:
        lines += _wrapped(detail, "      ", "        ", width)
    if len(finding.details) > _MOST_DETAILS:
        lines.append(f"      and {len(finding.details) - _MOST_DETAILS} more")
    if finding.links:
        lines += _wrapped(
            f"see {listed(map(str, _distinct(finding.links)), _MOST_LINKS)}", "      ", "        ", width
        )
    if finding.command:
        lines.append(f"      $ {finding.command}")
    return lines


def _distinct(links: list[Link]) -> list[Link]:
    return list(dict.fromkeys(links))


def _wrapped(line: str, first: str, more: str, width: int) -> list[str]:
    """Return a text as lines that fit; what would do more than show itself is escaped first, so that it counts."""
    room = max(width, 40)
    return textwrap.wrap(
        printable(shortened(line)), room, initial_indent=first, subsequent_indent=more, break_on_hyphens=False
    )
