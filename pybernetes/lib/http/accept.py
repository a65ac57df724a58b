"""Content negotiation: what an Accept header asks for, and whether an entity tag still matches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pybernetes.lib.memory.bounded_cache import bounded_cache

# A longer list of media types or of entity tags is not looked at: nobody means it.
LONGEST = 8 * 1024


class Clause(NamedTuple):
    """One media type of an Accept header, with its parameters (the quality left out)."""

    type: str
    parameters: dict[str, str]


@bounded_cache(1 << 20, weight=20)
def parse(header: str) -> tuple[Clause, ...]:
    """Return the clauses of an Accept header, the most wanted first; an empty header wants anything."""
    if len(header) > LONGEST:
        return ()
    ranked: list[tuple[float, int, Clause]] = []
    for text in (header or "*/*").split(","):
        name, *parameters = [part.strip() for part in text.split(";")]
        if not name:
            continue
        options = dict(pair.partition("=")[::2] for pair in parameters if pair)
        try:
            quality = float(options.pop("q", "1"))
        except ValueError:
            quality = 0.0
        if quality > 0:
            ranked.append((-quality, name.count("*"), Clause(name.lower(), options)))
    ranked.sort(key=lambda entry: entry[:2])  # stable: equals keep the client's order
    return tuple(clause for _, _, clause in ranked)


def matches(wanted: str, offered: str) -> bool:
    """Return whether a media type of an Accept header, perhaps with stars, covers an offered one."""
    if wanted in ("*/*", offered):
        return True
    return wanted.endswith("/*") and offered.startswith(wanted[:-1])


def best(header: str, offered: Iterable[str]) -> str | None:
    """Return the offered media type that the client wants most (parameters ignored), or None."""
    choices = tuple(offered)
    for clause in parse(header):
        for choice in choices:
            if matches(clause.type, choice):
                return choice
    return None


def etag_matches(if_none_match: str, etag: str) -> bool:
    """Return whether an If-None-Match header names this (quoted) entity tag, so that 304 is the answer."""
    if not if_none_match or len(if_none_match) > LONGEST:
        return False
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return etag in tags or "*" in tags
