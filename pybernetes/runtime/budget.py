"""How much of this process somebody who is not trusted may take: memory for objects, and work for changes of them."""

from __future__ import annotations

import orjson

from pybernetes.api.resource import Object
from pybernetes.lib.clock import Clock

MEBIBYTE = 1 << 20
# A decoded value, a key or an empty container takes about so many bytes, however short it is as text.
_VALUE_BYTES = 64
_SEPARATORS = (b",", b":", b"[", b"{")
# Changes that are worth so much of the memory are taken in at once, and so much of it in a second in the long run.
_RATE_SHARE = 1 / 16


class OverBudget(OSError):
    """There are more objects than there is room for."""


def weight(obj: Object) -> int:
    """Return about how many bytes of memory an object takes; TypeError if it is nothing that JSON could be."""
    text = orjson.dumps(obj)
    return len(text) + _VALUE_BYTES * sum(map(text.count, _SEPARATORS))


class Budget:
    """The memory for everything of one server, in bytes."""

    def __init__(self, most: int, clock: Clock | None = None) -> None:
        self.most, self.used = most, 0
        self._clock = clock or Clock()
        self._ahead = 0.0  # work that was taken in and not paid for with time
        self._at = 0.0  # when that was counted

    def change(self, before: int, after: int) -> None:
        """Replace what takes some bytes by what takes others; OverBudget if there is no room, and nothing changes then."""
        self.check(self.used - before + after)
        self.used += after - before

    def check(self, wanted: int) -> None:
        """Raise OverBudget for more than all of it."""
        if wanted > self.most:
            raise OverBudget(
                f"the server has more objects than the {self.most // MEBIBYTE} MiB that there are for it"
            )

    def pause(self, work: int) -> float:
        """Note some bytes' worth of work; return the seconds after which to go on."""
        now = self._clock.monotonic()
        rate = self.most * _RATE_SHARE
        self._ahead = max(0.0, self._ahead - (now - self._at) * rate) + work
        self._at = now
        return max(0.0, (self._ahead - self.most) / rate)
