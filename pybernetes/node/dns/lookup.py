"""The cluster's own names: from a question to what the table has, or to a reason why there is nothing."""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Callable, Iterable, Sequence

from pybernetes.node.dns import wire
from pybernetes.node.dns.answer_table import Answer, AnswerTable, encode
from pybernetes.node.dns.records import address_data, pod_address, reverse

NOTHING = Answer(struct.pack(">HHH", 1, 0, 0), b"")
TRANSFERS = (wire.AXFR.to_bytes(2), wire.IXFR.to_bytes(2))
_ARPA = b"\x04arpa\0"
_CNAME = b"\0\5"


class Lookup:
    """Decides about names that are not in the table."""

    def __init__(
        self, table: AnswerTable, ranges: Iterable[str] = (), *, beside: Sequence[AnswerTable] = (), kept: Iterable[str] = (),
        pods: bool = True, is_pod: Callable[[str, str], bool] | None = None,
        falls_through: Callable[[bytes], bool] = lambda name: False,
    ) -> None:  # fmt: skip
        self.table, self.answers = table, table.answers
        self._tables = (table, *beside)
        self._networks = [ipaddress.ip_network(text) for text in ranges]
        self._kept = [ipaddress.ip_network(text) for text in kept]  # those that nobody else is asked about
        self._pod_zone = b"\x03pod" + table.zone
        self._pods, self._is_pod, self._falls_through = pods, is_pod, falls_through

    def concerns(self, zone: bytes) -> bool:
        """Return whether a zone is a part of what is answered here."""
        own = any(wire.within(zone, table.zone) for table in self._tables)
        return zone != b"\0" and (own or zone.endswith(_ARPA))

    def table_of(self, name: bytes) -> AnswerTable | None:
        """Return the table of the zone that a name is in."""
        for table in self._tables:
            if name.endswith(table.zone):
                return table
        return None

    def alias(self, name: bytes) -> Answer | None:
        """Return the alias that a name of the cluster's stands for."""
        return self.answers.get(name + _CNAME + wire.IN) if self.table_of(name) is not None else None

    def missing(self, name: bytes, kind: bytes) -> tuple[Answer, int] | None:
        """Return what the cluster says about a name without such a record; None if others have to be asked."""
        table: AnswerTable | None = self.table
        if not name.endswith(self.table.zone):
            table = self.table_of(name) if len(self._tables) > 1 else None
        if table is not None:
            if name + b"\0\5\0\1" in self.answers and kind[:2] != _CNAME:
                return None  # an alias: somebody has to be asked what it stands for
            if name in table.names:
                if kind[:2] in TRANSFERS:
                    return NOTHING, wire.REFUSED  # nobody gets the zone as a whole
                if kind == b"\0\xff\0\1":
                    return encode(wire.HINFO, [b"\x07RFC8482\0"], table.ttl), wire.NOERROR
                return table.negative, wire.NOERROR
            if self._pods and name.endswith(self._pod_zone) and (pod := self._pod(name, kind)) is not None:
                return pod, wire.NOERROR
            return None if self._falls_through(name) else (table.negative, wire.NXDOMAIN)
        table = self.table
        if name.endswith(_ARPA) and (self._networks or self._kept):
            address = address_of(name)
            kept = address is not None and any(address in network for network in self._kept)
            if address is not None and (kept or any(address in network for network in self._networks)):
                if name in table.names:
                    return table.negative, wire.NOERROR
                if kept or not self._falls_through(name):
                    return table.negative, wire.NXDOMAIN
        return None

    def _pod(self, name: bytes, kind: bytes) -> Answer | None:
        """Return the name of a pod's address, in a namespace that exists; its name is in the zone of those."""
        try:
            parts = wire.labels(name[: -len(self.table.zone)] + b"\0")
        except wire.Malformed:
            return None
        if len(parts) != 3 or bytes([len(parts[1])]) + parts[1] not in self.table.namespaces:
            return None
        address = pod_address(parts)
        if address is None or (self._is_pod is not None and not self._is_pod(address, parts[1].decode())):
            return None
        type_, packed = address_data(address)
        return (
            encode(type_, [packed], self.table.ttl)
            if kind == type_.to_bytes(2) + wire.IN
            else self.table.negative
        )


def address_of(name: bytes) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return the address of a reverse name."""
    try:
        parts = [label.decode() for label in wire.labels(name)[:-2]][::-1]
        if name.endswith(b"\x07in-addr\x04arpa\0"):
            address = ipaddress.ip_address(".".join(parts))
        else:
            digits = "".join(parts)
            address = ipaddress.ip_address(":".join(digits[at : at + 4] for at in range(0, 32, 4)))
        return address if reverse(str(address)) == name else None
    except ValueError:
        return None
