"""Prints an answer for people: tables, reasons, and the picture of the nodes."""

from __future__ import annotations

from collections.abc import Sequence

from pybernetes.lib.printable import printable
from pybernetes.scheduling.explanation import Explanation
from pybernetes.tools.what_if import picture
from pybernetes.tools.what_if.answer import Answer
from pybernetes.tools.what_if.picture import Style
from pybernetes.tools.what_if.simulation import (
    DAEMON,
    EVICTED,
    LOST,
    NEW,
    PREEMPTED,
    WAITING,
    Explained,
    Placement,
)

MAX_PODS = 50
_WORDS = {
    NEW: "new",
    WAITING: "pending now",
    EVICTED: "evicted",
    PREEMPTED: "preempted",
    LOST: "lost",
    DAEMON: "daemon",
}


def text(answer: Answer, width: int, style: Style) -> str:
    """Return the answer as text."""
    parts: list[list[str]] = []
    if answer.result:
        parts.append([answer.result[0].upper() + answer.result[1:] + "."])
    parts += [_placed(answer), _pending(answer), _blocked(answer), _gone(answer), _preempted(answer)]
    parts += [_why(placement, width) for placement in answer.explained]
    parts.append([f"note: {note}" for note in answer.notes])
    parts = [[printable(line) for line in part] for part in parts]
    parts.append(picture.draw(answer.before, answer.after, width, style))
    return "\n\n".join("\n".join(part) for part in parts if part)


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines whose columns stand below one another, three spaces apart."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return [line.rstrip() for line in lines]


def _limited(rows: list[list[str]], total: int) -> list[str]:
    lines = table(rows)
    return [*lines, f"and {total - MAX_PODS} more"] if total > MAX_PODS else lines


def _placed(answer: Answer) -> list[str]:
    placed = answer.placed
    rows = [["POD", "NODE", "CAUSE", "WAS ON"]]
    rows += [
        [placement.pod.key, placement.node, _WORDS.get(placement.cause, placement.cause), placement.was_on]
        for placement in placed[:MAX_PODS]
    ]
    if not any(row[3] for row in rows[1:]):
        rows = [row[:3] for row in rows]
    daemons = sum(1 for placement in answer.placements if placement.node and placement.cause == DAEMON)
    lines = _limited(rows, len(placed)) if placed else []
    return [*lines, f"and {daemons} pods of daemon sets, each on its node"] if daemons else lines


def _pending(answer: Answer) -> list[str]:
    """Say who stays pending, once for each reason."""
    pending = answer.pending
    if not pending:
        return []
    reasons: dict[str, list[Placement]] = {}
    for placement in pending:
        reasons.setdefault(placement.message, []).append(placement)
    lines = [f"{_count(len(pending))} would stay pending:"]
    for reason, pods in reasons.items():
        lines += [f"  {_names([placement.pod.key for placement in pods])}", f"    {reason}"]
    return lines


def _blocked(answer: Answer) -> list[str]:
    if not answer.blocked:
        return []
    lines = [f"{_count(len(answer.blocked))} could not be evicted:"]
    for pod, node, why in answer.blocked[:MAX_PODS]:
        lines += [f"  {pod} on {node}", f"    {why}"]
    return lines


def _gone(answer: Answer) -> list[str]:
    gone = answer.gone
    if not gone:
        return []
    rows = [["GONE FOR GOOD", "WAS ON", "WHY"]]
    rows += [[placement.pod.key, placement.was_on, placement.message] for placement in gone[:MAX_PODS]]
    return _limited(rows, len(gone))


def _preempted(answer: Answer) -> list[str]:
    rows = [["PREEMPTED", "ON", "FOR", "THEN"]]
    for placement in answer.placements:
        for victim in placement.victims:
            then = "gone for good" if victim.gone else victim.node or "pending"
            rows.append([victim.pod.key, victim.was_on, placement.pod.key, then])
    return _limited(rows[: MAX_PODS + 1], len(rows) - 1) if len(rows) > 1 else []


def _why(explained: Explained, width: int) -> list[str]:
    explanation = explained.explanation
    what = "has where to go" if explanation.feasible else "fits nowhere"
    lines = [f"Why {explained.pod.key} (and others like it) {what}:"]
    if explanation.rejection:
        return [*lines, f"  {explanation.rejection}"]
    rows = [["  FILTER", "NODES", "VERDICT", "WHICH"]]
    for verdict in explanation.verdicts:
        rows.append(
            [f"  {verdict.plugin}", str(len(verdict.nodes)), verdict.reason, _names(list(verdict.nodes), 3)]
        )
    rows.append(
        [
            "  (all)",
            str(explanation.feasible),
            "fits",
            _names([score.node for score in explanation.scores], 3, explanation.feasible),
        ]
    )
    return [*lines, *table(rows), *_scores(explanation)]


def _scores(explanation: Explanation) -> list[str]:
    if not explanation.scores:
        return []
    plugins = list(explanation.scores[0].parts)
    rows = [["  NODE", "SCORE", *plugins]]
    for scored in explanation.scores[:5]:
        rows.append([f"  {scored.node}", str(scored.total), *(str(scored.parts[name]) for name in plugins)])
    lines = table(rows)
    if len(explanation.best) > 1:
        lines.append(f"  {len(explanation.best)} nodes are equally good: the scheduler takes any of them.")
    return lines


def _count(pods: int) -> str:
    return "1 pod" if pods == 1 else f"{pods} pods"


def _names(names: list[str], limit: int = 5, total: int | None = None) -> str:
    more = (len(names) if total is None else total) - limit
    return ", ".join(names[:limit]) + (f" and {more} more" if more > 0 else "")
