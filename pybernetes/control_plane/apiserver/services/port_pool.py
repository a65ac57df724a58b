"""Node ports: one bitmap in the store, changed by compare-and-swap, in the form that Kubernetes keeps it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import orjson

from pybernetes.control_plane.apiserver.services.ranges import PortRange
from pybernetes.control_plane.store.protocol import Conflict, KeyExists, NotFound, Record, Store

KEY = "/registry/ranges/servicenodeports"
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
        return self._ports(self._store.get(KEY))

    def _ports(self, record: Record | None) -> set[int]:
        if record is None:
            return set()
        obj = orjson.loads(record.value)
        bits = int.from_bytes(base64.b64decode(obj.get("data", "")), "big")
        first = PortRange.parse(obj["range"]).first if obj.get("range") else self.range.first
        ports = {first + index for index, bit in enumerate(reversed(f"{bits:b}")) if bit == "1"}
        return {port for port in ports if port in self.range}

    async def change(self, decide: Callable[[set[int]], set[int]]) -> None:
        """Replace the set of taken ports by what ``decide`` makes of it, again if another server was faster."""
        record = self._store.get(KEY)
        while True:
            before = self._ports(record)
            after = decide(set(before))
            if after == before and record is not None:
                return
            try:
                if record is None:
                    await self._store.create(KEY, self._encode(after, {}))
                else:
                    await self._store.update(
                        KEY, self._encode(after, orjson.loads(record.value)), record.revision
                    )
                return
            except KeyExists:
                await self._store.sync()
                record = self._store.get(KEY)
            except Conflict as conflict:
                record = conflict.current
            except NotFound:
                record = None

    def _encode(self, ports: set[int], old: dict[str, Any]) -> bytes:
        meta = {key: value for key, value in old.get("metadata", {}).items() if key != "resourceVersion"}
        bits = sum(1 << (port - self.range.first) for port in ports)
        data = base64.b64encode(bits.to_bytes((bits.bit_length() + 7) // 8, "big")).decode()
        return orjson.dumps(
            {
                "kind": "RangeAllocation",
                "apiVersion": "v1",
                "metadata": meta or {"creationTimestamp": self._timestamp()},
                "range": str(self.range),
                "data": data,
            }
        )

    def check(self, port: int, taken: set[int]) -> None:
        """Raise PortError if a port is not in the range or not free."""
        if port not in self.range:
            text = f"provided port is not in the valid range. The range of valid ports is {self.range}"
            raise PortError(text)
        if port in taken:
            raise PortError(ALLOCATED)

    def any_free(self, taken: set[int]) -> int:
        """Return a free port; PortError if there is none."""
        for port in self.range.candidates(self._random):
            if port not in taken:
                return port
        raise PortError(FULL)

    @staticmethod
    def any_dry(chosen: Iterable[int]) -> int:
        """Return a number that stands for a port in a dry run, beyond those chosen already."""
        return max(chosen, default=_DRY_RUN_PORT) + 1
