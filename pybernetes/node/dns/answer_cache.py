"""Answers of others, remembered for as long as they say; equal questions at once are asked once."""

from __future__ import annotations

import asyncio
import struct
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field

from pybernetes.lib.clock import Clock
from pybernetes.lib.event_loop import off_loop
from pybernetes.node.dns import wire
from pybernetes.node.dns.metrics import Metrics
from pybernetes.node.dns.query import Handler, Query

SUCCESS, DENIAL = "success", "denial"
_MOST_BYTES = 16 << 20  # of all answers that are remembered
_ENTRY_BYTES = 500  # what one takes beside its question and its message
_AT_ONCE = 1000


@dataclass(slots=True)
class Kind:
    """How answers of one kind, success or denial, are remembered."""

    capacity: int = 9984
    most_seconds: int = 3600
    least_seconds: int = 5
    disabled: tuple[bytes, ...] = ()  # zones


@dataclass(slots=True)
class Settings:
    """What is remembered, and for how long."""

    success: Kind = field(default_factory=Kind)
    denial: Kind = field(default_factory=lambda: Kind(most_seconds=1800))
    failure_seconds: float = 5.0
    keep_ttl: bool = False
    stale_seconds: float = 0.0  # how long an answer may be given after its time
    verify: bool = False  # whether a fresh one is tried first
    prefetch: int = 0  # how often an answer must be asked for to be renewed before its time
    prefetch_gap: float = 60.0
    prefetch_percent: int = 10


@dataclass(slots=True)
class _Entry:
    message: bytes
    ttl_offsets: array[int]
    since: float
    until: float
    kind: str
    aged: float  # until when the TTLs of the message were counted down
    hits: int = 0
    last: float = 0.0


class AnswerCache:
    """Stands before whoever has to be asked."""

    def __init__(
        self, settings: Settings, following: Handler, metrics: Metrics | None = None, clock: Clock | None = None
    ) -> None:  # fmt: skip
        self._settings, self._following = settings, following
        self.metrics, self._clock = metrics or Metrics(), clock or Clock()
        self._entries: dict[str, dict[bytes, _Entry]] = {SUCCESS: {}, DENIAL: {}}
        self.size = 0
        self._asking: dict[bytes, asyncio.Task[bytes]] = {}

    async def ask(self, query: Query) -> bytes:
        """Return the answer to a question, from memory if it is still good."""
        question = query.question
        if query.type == wire.HINFO:  # the plugin loop must see each of its own
            return plain(await self._following(query))[0]
        entry = self._find(question)
        now = self._clock.monotonic()
        if entry is not None and now < entry.until:
            self.metrics.cache_hits += 1
            if self._settings.prefetch:
                self._prefetch(query, entry, now)
            return self._aged(entry, int(now - entry.aged))
        if (
            entry is not None
            and self._settings.stale_seconds
            and now < entry.until + self._settings.stale_seconds
        ):
            return await self._stale(query, entry)
        self.metrics.cache_misses += 1
        return await asyncio.shield(self._fetch(query))

    def _find(self, question: bytes) -> _Entry | None:
        return self._entries[SUCCESS].get(question) or self._entries[DENIAL].get(question)

    async def _stale(self, query: Query, entry: _Entry) -> bytes:
        """Give an old answer, as CoreDNS does with a TTL of 0, and have it renewed before or after."""
        task = self._fetch(query)
        if self._settings.verify:
            try:
                message = await asyncio.shield(task)
                if message[3] & 15 != wire.SERVFAIL:
                    return message
            except (OSError, TimeoutError, wire.Malformed):
                pass
        self.metrics.count("coredns_cache_served_stale_total")
        return _with_ttl(entry.message, entry.ttl_offsets, 0)

    def _prefetch(self, query: Query, entry: _Entry, now: float) -> None:
        settings = self._settings
        entry.hits = entry.hits + 1 if now - entry.last < settings.prefetch_gap else 1
        entry.last = now
        whole = entry.until - entry.since
        left = max(1.0, whole * settings.prefetch_percent / 100)
        if (
            entry.hits >= settings.prefetch
            and entry.until - now <= left
            and query.question not in self._asking
        ):
            self.metrics.count("coredns_cache_prefetch_total")
            self._fetch(query)

    def _fetch(self, query: Query) -> asyncio.Task[bytes]:
        """Ask, in a task of its own: whoever else has the same question waits for the same answer."""
        question = query.question
        task = self._asking.get(question)
        if task is None:
            if len(self._asking) >= _AT_ONCE:
                raise OSError("too many questions are on their way already")
            task = self._asking[question] = asyncio.create_task(self._ask(query))
            task.add_done_callback(lambda done: self._asked(question, done))
        return task

    def _asked(self, question: bytes, task: asyncio.Task[bytes]) -> None:
        del self._asking[question]
        if not task.cancelled():
            task.exception()  # whoever waited has it; nobody may have

    async def _ask(self, query: Query) -> bytes:
        message = await self._following(query)
        return self._remember(query.question, *await off_loop.run(len(message), plain, message))

    def _remember(
        self, question: bytes, message: bytes, records: list[wire.Record], ttl_offsets: list[int]
    ) -> bytes:
        """Remember an answer for as long as it says, without the EDNS option that was meant for us alone."""
        kind, seconds = self._lifetime(message, records)
        settings = self._settings.success if kind == SUCCESS else self._settings.denial
        if any(wire.within(question[:-4], zone) for zone in settings.disabled):
            seconds = 0
        if seconds:  # nobody else is to keep it longer than we do
            message = _with_ttl(message, ttl_offsets, int(seconds))
        stale = self._settings.stale_seconds and message[3] & 15 == wire.SERVFAIL and self._find(question)
        if seconds and not stale and not message[2] & 2:
            now = self._clock.monotonic()
            self._forget(question)
            self.size += _size(question, message)
            entries = self._entries[kind]
            while entries and (len(entries) >= settings.capacity or self.size > _MOST_BYTES):
                self._evict(entries)
            other = self._entries[DENIAL if kind == SUCCESS else SUCCESS]
            while other and self.size > _MOST_BYTES:
                self._evict(other)
            entries[question] = _Entry(message, array("I", ttl_offsets), now, now + seconds, kind, now)
            self._count_entries()
        return message

    def _lifetime(self, message: bytes, records: list[wire.Record]) -> tuple[str, float]:
        """Return the kind of an answer, and for how long it is remembered; 0 for not at all."""
        code, answers = message[3] & 15, int.from_bytes(message[6:8])
        if code == wire.NOERROR and answers:
            kind = self._settings.success
            least = min(record.ttl for record in records[:answers])
            return SUCCESS, min(kind.most_seconds, max(kind.least_seconds, least)) if least else 0
        if code in (wire.NOERROR, wire.NXDOMAIN):
            kind = self._settings.denial
            limits = [
                min(record.ttl, int.from_bytes(record.data[-4:]))
                for record in records
                if record.type == wire.SOA
            ]
            if not limits or not min(limits):
                return DENIAL, 0
            return DENIAL, min(kind.most_seconds, max(kind.least_seconds, min(limits)))
        return DENIAL, self._settings.failure_seconds if code == wire.SERVFAIL else 0

    def _evict(self, entries: dict[bytes, _Entry]) -> None:
        """Forget the oldest."""
        question = next(iter(entries))
        self.metrics.count("coredns_cache_evictions_total", (("type", entries[question].kind),))
        self._forget(question)

    def _forget(self, question: bytes) -> None:
        for entries in self._entries.values():
            entry = entries.pop(question, None)
            if entry is not None:
                self.size -= _size(question, entry.message)

    def _count_entries(self) -> None:
        self.metrics.cache_entries = sum(map(len, self._entries.values()))

    def _aged(self, entry: _Entry, seconds: int) -> bytes:
        """Return a message with its age subtracted from its TTLs: once in a second, since it may have thousands of them."""
        if not seconds or self._settings.keep_ttl:
            return entry.message
        message = bytearray(entry.message)
        for at in entry.ttl_offsets:
            ttl = struct.unpack_from(">I", message, at)[0]
            struct.pack_into(">I", message, at, max(0, ttl - seconds))
        entry.message = bytes(message)
        entry.aged += seconds
        return entry.message

    async def close(self) -> None:
        """End what is being asked."""
        for task in list(self._asking.values()):
            task.cancel()


def _with_ttl(message: bytes, ttl_offsets: Iterable[int], ttl: int) -> bytes:
    changed = bytearray(message)
    for at in ttl_offsets:
        struct.pack_into(">I", changed, at, ttl)
    return bytes(changed)


def _size(question: bytes, message: bytes) -> int:
    return _ENTRY_BYTES + len(question) + len(message)


def plain(message: bytes) -> tuple[bytes, list[wire.Record], list[int]]:
    """Return a message without its EDNS option, its records but the extra ones, and where all its TTLs are."""
    end = wire.read_question(message)[2]
    answers, authorities, extras = struct.unpack_from(">HHH", message, 6)
    records, ttl_offsets, at = wire.read_records(message, end, answers + authorities)
    extra_records, extra_ttl_offsets, _ = wire.read_records(message, at, extras)
    if extra_records and extra_records[-1].type == wire.OPT:
        cut = extra_ttl_offsets[-1] - 5
        message = message[:10] + (extras - 1).to_bytes(2) + message[12:cut]
        extra_ttl_offsets.pop()
    return message, records, ttl_offsets + extra_ttl_offsets
