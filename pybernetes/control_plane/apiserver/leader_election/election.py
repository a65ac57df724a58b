"""What comes next in an election: candidates are asked whether they are there, and the best of those that answer leads. Pure.

Nothing is remembered from one step to the next: the times in the candidates tell who was asked and who answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pybernetes.api.coordination._versions import Version, parse
from pybernetes.api.coordination.lease_candidate import OLDEST_EMULATION_VERSION
from pybernetes.api.resource import Object
from pybernetes.lib import rfc3339

LEASE_SECONDS = 5
VALID_SECONDS = 30 * 60.0
_ELECTION_SECONDS = 5.0
_ZERO: Version = (0, 0, 0, False, "")


@dataclass(frozen=True)
class Step:
    """What to do: ask these candidates, or write the lease for a strategy and, if it is one of ours, its holder."""

    ask: tuple[str, ...] = ()
    strategy: str = ""
    holder: str = ""


NOTHING = Step()


def _time(obj: Object, field: str) -> float | None:
    text = (obj.get("spec") or {}).get(field)
    return rfc3339.parse(text) if text else None


def expired(lease: Object, now: float) -> bool:
    """Return whether the holder of a lease has been silent for longer than it said."""
    renewed, seconds = _time(lease, "renewTime"), (lease.get("spec") or {}).get("leaseDurationSeconds")
    return renewed is None or seconds is None or renewed + seconds < now


def gone(candidate: Object, now: float) -> bool:
    """Return whether a candidate has not been heard of for so long that it counts no more."""
    renewed = _time(candidate, "renewTime")
    return renewed is None or renewed + VALID_SECONDS < now


def _version(candidate: Object, field: str) -> Version | None:
    return parse((candidate.get("spec") or {}).get(field) or "")


def best(candidates: Sequence[Object]) -> Object | None:
    """Return the candidate with the oldest emulated version, then the oldest program, then the oldest object."""
    fitting = [
        candidate
        for candidate in candidates
        if _version(candidate, "emulationVersion") and _version(candidate, "binaryVersion")
    ]

    def order(candidate: Object) -> tuple[Version, Version, str, str]:
        metadata = candidate["metadata"]
        return (
            _version(candidate, "emulationVersion") or _ZERO,
            _version(candidate, "binaryVersion") or _ZERO,
            metadata.get("creationTimestamp") or "",
            metadata["name"],
        )

    return min(fitting, key=order, default=None)


def strategy(candidates: Sequence[Object]) -> str:
    """Return what the newest programs want; empty if they want different things."""
    newest = max((_version(candidate, "binaryVersion") or _ZERO for candidate in candidates), default=_ZERO)
    wanted = {
        (candidate.get("spec") or {}).get("strategy") or ""
        for candidate in candidates
        if (_version(candidate, "binaryVersion") or _ZERO) == newest
    }
    return wanted.pop() if len(wanted) == 1 else ""


def needed(lease: Object | None, candidates: Sequence[Object], now: float) -> bool:
    """Return whether there is anything to decide."""
    holder = ((lease or {}).get("spec") or {}).get("holderIdentity")
    if lease is None or not holder or expired(lease, now):
        return True
    # Those that are there say so from time to time.
    if any((_time(candidate, "renewTime") or now) + VALID_SECONDS / 2 < now for candidate in candidates):
        return True
    if strategy(candidates) != OLDEST_EMULATION_VERSION:
        return False
    chosen = best(candidates)
    return chosen is not None and chosen["metadata"]["name"] != holder


def step(lease: Object | None, candidates: Sequence[Object], now: float) -> Step:
    """Return what comes next for a lease and those of its candidates that count."""
    if not candidates or not needed(lease, candidates, now):
        return NOTHING
    ask, waiting = [], False
    for candidate in candidates:
        asked, answered = _time(candidate, "pingTime"), _time(candidate, "renewTime")
        silent = asked is not None and (answered is None or answered < asked)
        if silent and asked is not None and asked + _ELECTION_SECONDS > now:
            waiting = True
        elif answered is not None and answered + _ELECTION_SECONDS > now:
            continue
        elif asked is None or (asked + _ELECTION_SECONDS < now and not silent):
            ask.append(candidate["metadata"]["name"])
    if ask:
        return Step(ask=tuple(ask))
    if waiting:
        return NOTHING
    there = [
        candidate
        for candidate in candidates
        if (_time(candidate, "renewTime") or 0.0) + _ELECTION_SECONDS > now
    ]
    wanted = strategy(there)
    if not there or not wanted:
        return NOTHING
    chosen = best(there) if wanted == OLDEST_EMULATION_VERSION else None
    return Step(strategy=wanted, holder=chosen["metadata"]["name"] if chosen is not None else "")


def elected(lease: Object, decided: Step, now: float) -> Object | None:
    """Return the spec of a lease after an election; None if nothing changes.

    A holder that is alive is not thrown out: it sees that another is preferred, stops, and lets the lease run out.
    """
    spec = dict(lease.get("spec") or {})
    before, holder = dict(spec), spec.get("holderIdentity") or ""
    spec["strategy"] = decided.strategy
    if decided.holder and (not holder or (expired(lease, now) and holder != decided.holder)):
        spec.pop("preferredHolder", None)
        spec.pop("acquireTime", None)
        spec |= {
            "holderIdentity": decided.holder,
            "renewTime": rfc3339.micro(now),
            "leaseDurationSeconds": LEASE_SECONDS,
        }
    elif decided.holder and decided.holder != holder:
        spec["preferredHolder"] = decided.holder
    return spec if spec != before else None
