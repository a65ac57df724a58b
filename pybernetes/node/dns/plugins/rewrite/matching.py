"""How names are matched and changed: exactly, by their beginning, end or middle, or by a regular expression (RE2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pybernetes.api.text.regular_expressions import PatternError, compile_pattern
from pybernetes.node.dns import wire
from pybernetes.node.dns.corefile import CorefileError

EXACT, PREFIX, SUFFIX, SUBSTRING, REGEX = "exact", "prefix", "suffix", "substring", "regex"
KINDS = (EXACT, PREFIX, SUFFIX, SUBSTRING, REGEX)
_LONGEST = 10_000
_PLAIN = frozenset(range(0x21, 0x7F)) - frozenset(b".\\")


def plain_text(name: bytes) -> str | None:
    """Return a name as text, or None if its labels hold what would mean something else there."""
    labels = wire.labels(name)
    if not all(set(label) <= _PLAIN for label in labels):
        return None
    return "".join(f"{label.decode()}." for label in labels) or "."


def qualified(text: str) -> str:
    """Return a name in lower case with its last dot."""
    text = text.lower()
    return text if text.endswith(".") else text + "."


def pattern(text: str, rule: str = "") -> Any:
    """Return a compiled expression; CorefileError if it is none."""
    if len(text) > _LONGEST:
        where = f" in a {rule} rule" if rule else ""
        raise CorefileError(f"regex pattern too long{where}: {len(text)} > {_LONGEST}")
    try:
        return compile_pattern(text)
    except PatternError:
        if rule:
            raise CorefileError(f"invalid regex pattern in a {rule} rule: {text}") from None
        raise CorefileError(f"invalid regex matching pattern: {text}") from None


def groups_of(text: str, expression: Any, to: str) -> str | None:
    """Return ``to`` with the groups of the first match in its places; None if nothing matches."""
    match = expression.search(text)
    if match is None:
        return None
    for number, value in enumerate((match.group(0), *match.groups())):
        to = to.replace(f"{{{number}}}", value or "")
    return to


@dataclass(frozen=True, slots=True)
class Matcher:
    """Finds names, and says what becomes of them."""

    kind: str
    from_: str
    to: str = ""
    expression: Any = None

    @classmethod
    def of(cls, kind: str, from_: str, to: str = "", rule: str = "") -> Matcher:
        """Return a matcher; CorefileError if its expression is wrong."""
        if kind != REGEX:
            return cls(kind, from_, to)
        expression = pattern(from_, rule)
        used = sum(f"{{{number}}}" in to for number in range(101))
        if used > expression.groups:
            raise CorefileError(
                f"the rewrite regex pattern ({to}) uses more subexpressions than its corresponding matching regex "
                f"pattern ({from_})"
            )
        return cls(kind, from_, to, expression)

    def changed(self, text: str) -> str | None:
        """Return what a name becomes; None if it does not match."""
        kind, from_ = self.kind, self.from_
        if kind == EXACT:
            return self.to if text == from_ else None
        if kind == PREFIX:
            return self.to + text[len(from_) :] if text.startswith(from_) else None
        if kind == SUFFIX:
            return text[: len(text) - len(from_)] + self.to if text.endswith(from_) else None
        if kind == SUBSTRING:
            return text.replace(from_, self.to) if from_ in text else None
        return groups_of(text, self.expression, self.to)
