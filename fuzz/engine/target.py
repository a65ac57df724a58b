"""What a file of ``targets/`` holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """Something that reads bytes of others.

    ``run`` is called with an input; exceptions other than those it ``refuses`` with are failures, an AssertionError
    (two readers that differ, a round trip that changes something) among them. A good input takes no longer than
    ``seconds`` and ``per_byte`` of processor time.
    """

    run: Callable[[bytes], object]
    refuses: tuple[type[Exception], ...] = ()
    seeds: tuple[bytes, ...] = ()
    words: tuple[bytes, ...] = ()
    seconds: float = 0.05
    per_byte: float = 10e-6
    largest: int = 64 << 10
