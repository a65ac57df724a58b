"""What an authorizer answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class Verdict:
    """Allowed, denied for good, or neither: then the next authorizer is asked, and in the end it is a no."""

    allowed: bool = False
    denied: bool = False
    reason: str = ""
    # What went wrong while somebody was asked: then a no is the server's failure.
    problem: str = ""


ALLOWED = Verdict(allowed=True)
NO_OPINION = Verdict()
Rule = dict[str, Any]


@dataclass(slots=True)
class Rules:
    """What a user may do in a namespace, as far as it can be listed."""

    rules: list[Rule] = field(default_factory=list)
    incomplete: bool = False
    problems: list[str] = field(default_factory=list)


def listed(problems: list[str]) -> str:
    """Return several problems as Go prints an aggregate of errors."""
    unique = list(dict.fromkeys(problems))
    return unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]" if unique else ""
