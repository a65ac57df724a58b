"""Runs of a target: a number of inputs, or a time, from one seed. The same seed gives the same inputs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random

from fuzz.engine import corpus
from fuzz.engine.judge import Failure, judge
from fuzz.engine.mutations import mutate
from fuzz.engine.target import Target

# Failures of one kind that are kept: the rest has the same cause.
_OF_A_KIND = 1


@dataclass
class Campaign:
    """One target and what has come of it so far."""

    name: str
    target: Target
    seed: int
    runs: int = 0
    failures: list[tuple[Failure, bytes]] = field(default_factory=list)
    _kinds: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._inputs = corpus.inputs(self.name, self.target)
        self._stream = self._all()

    def _all(self) -> Iterator[bytes]:
        """Yield the corpus as it is, then mutations of it without end."""
        yield from self._inputs
        random = Random(f"{self.name} {self.seed}")
        while True:
            yield mutate(random, self._inputs, self.target.words, self.target.largest)

    def run(self, runs: int, report: Callable[[Failure, bytes], None] = lambda failure, data: None) -> None:
        """Try a number of inputs; ``report`` is called for the first failure of each kind."""
        for _ in range(runs):
            data = next(self._stream)
            self.runs += 1
            failure = judge(self.target, data)
            if failure is None:
                continue
            self._kinds[failure.kind] = self._kinds.get(failure.kind, 0) + 1
            if self._kinds[failure.kind] <= _OF_A_KIND:
                small = shrink(self.target, data, failure.kind)
                self.failures.append((failure, small))
                report(failure, small)

    def run_for(self, seconds: float, report: Callable[[Failure, bytes], None]) -> None:
        """Try inputs for a time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.run(50, report)


def shrink(target: Target, data: bytes, kind: str, tries: int = 400) -> bytes:
    """Return a smaller input that fails in the same way, found by leaving parts out."""
    if kind in ("hang", "slow", "memory"):
        return data  # each try would take its time
    size = max(1, len(data) // 2)
    while size and tries > 0:
        at = 0
        while at < len(data) and tries > 0:
            smaller = data[:at] + data[at + size :]
            tries -= 1
            failure = judge(target, smaller)
            if failure is not None and failure.kind == kind:
                data = smaller
            else:
                at += size
        size //= 2
    return data
