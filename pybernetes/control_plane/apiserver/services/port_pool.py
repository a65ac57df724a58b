"""Node ports: one bitmap in the store, changed by compare-and-swap, in the form that Kubernetes keeps it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from itertools import count
from random import Random

from pybernetes.api.resource import Object, Resource
from pybernetes.api.schema import Type
from pybernetes.control_plane.apiserver.services.ranges import PortRange
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.modify import KEEP, Outcome, modify
from pybernetes.control_plane.store.protocol import Store

KEY = "/registry/ranges/servicenodeports"
# A kind that is stored but not served.
_RANGES = Kind(
    Resource(group="", version="v1", kind="RangeAllocation", plural="ranges", own_type=Type("struct"))
)
ALLOCATED = "provided port is already allocated"
FULL = "range is full"
_DRY_RUN_PORT = 32768


class PortError(ValueError):
    """A port cannot be had; the text is Kubernetes' own."""


class PortPool:
    """The node ports that are taken. A port outside of the range is nobody's and is never noted."""

    def __init__(self, store: Store, range_: PortRange, timestamp: Callable[[], str], random: Random) -> None:
        self._store = store
        self.range = range_
        self._timestamp = timestamp
        self._random = random

    def taken(self) -> set[int]:
        """Return the ports that are taken now."""
        record = self._store.get(KEY)
        return self._ports(None if record is None else _RANGES.object(record))

    def _ports(self, allocation: Object | None) -> set[int]:
        if allocation is None:
            return set()
        bits = int.from_bytes(base64.b64decode(allocation.get("data", "")), "big")
        first = PortRange.parse(allocation["range"]).first if allocation.get("range") else self.range.first
        ports = {first + index for index, bit in enumerate(reversed(f"{bits:b}")) if bit == "1"}
        return {port for port in ports if port in self.range}

    async def change(self, decide: Callable[[set[int]], set[int]]) -> None:
        """Replace the set of taken ports by what ``decide`` makes of it, again if another server was faster."""

        def change(allocation: Object | None) -> Object | Outcome:
            before = self._ports(allocation)
            after = decide(set(before))
            if after == before and allocation is not None:
                return KEEP
            return self._allocation(after, allocation or {})

        await modify(self._store, _RANGES, KEY, change)

    def _allocation(self, ports: set[int], old: Object) -> Object:
        meta = {key: value for key, value in old.get("metadata", {}).items() if key != "resourceVersion"}
        bits = sum(1 << (port - self.range.first) for port in ports)
        data = base64.b64encode(bits.to_bytes((bits.bit_length() + 7) // 8, "big")).decode()
        return {
            "kind": "RangeAllocation",
            "apiVersion": "v1",
            "metadata": meta or {"creationTimestamp": self._timestamp()},
            "range": str(self.range),
            "data": data,
        }

    def check(self, port: int, taken: set[int]) -> None:
        """Raise PortError if a port is not in the range or not free."""
        if port not in self.range:
            text = f"provided port is not in the valid range. The range of valid ports is {self.range}"
            raise PortError(text)
        if port in taken:
            raise PortError(ALLOCATED)

    def free(self, taken: set[int]) -> Iterator[int]:
        """Return the ports that are free, in the order in which they are given away; ``taken`` may grow meanwhile."""
        return (port for port in self.range.candidates(self._random) if port not in taken)

    @staticmethod
    def dry(taken: set[int]) -> Iterator[int]:
        """Return numbers that stand for ports in a dry run."""
        return (port for port in count(_DRY_RUN_PORT + 1) if port not in taken)
