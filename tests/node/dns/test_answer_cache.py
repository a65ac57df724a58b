"""Answers of others: remembered for as long as they say, and no longer, and no more of them than there is room for."""

from __future__ import annotations

import asyncio
import struct

import pytest

from pybernetes.lib.clock import ManualClock
from pybernetes.node.dns import answer_cache, wire
from pybernetes.node.dns.answer_cache import AnswerCache, Kind, Settings
from pybernetes.node.dns.message import Message
from pybernetes.node.dns.query import Query
from pybernetes.node.dns.wire import Record
from tests.support import eventually

SOA = wire.name("ns") + wire.name("mail") + struct.pack(">IIIII", 1, 2, 3, 4, 40)


class Source:
    """Somebody who is asked; ``code`` and ``ttl`` of its answers can be changed."""

    def __init__(self) -> None:
        self.asked = 0
        self.code, self.ttl = wire.NOERROR, 30

    async def answer(self, query: Query) -> bytes:
        self.asked += 1
        if self.ttl < 0:
            raise OSError("nobody is there")
        await asyncio.sleep(0)
        if self.code == wire.NOERROR:
            record = Record(query.name, wire.A, 1, self.ttl, bytes([192, 0, 2, 7]))
            return Message(query.question, answers=[record]).encode()
        zone = Record(wire.name("example.com"), wire.SOA, 1, self.ttl, SOA)
        return Message(query.question, code=self.code, authorities=[zone]).encode()


def query(name: str) -> Query:
    return Query(wire.name(name) + struct.pack(">HH", wire.A, 1))


def made(**settings: object) -> tuple[Source, AnswerCache, ManualClock]:
    source, clock, chosen = Source(), ManualClock(), Settings()
    for name, value in settings.items():
        setattr(chosen, name, value)
    return source, AnswerCache(chosen, source.answer, clock=clock), clock


async def ttl(cache: AnswerCache, name: str = "www.example.com") -> int:
    message = Message.read(await cache.ask(query(name)))
    return (message.answers or message.authorities)[0].ttl


async def test_answers_are_remembered_as_long_as_they_say() -> None:
    """CVE-2023-30464, CVE-2024-0874: a question goes out once, and is the same whoever asks it."""
    source, cache, clock = made()
    assert await ttl(cache) == 30
    await clock.advance(10)
    assert await ttl(cache) == 20 and cache.metrics.cache_hits == 1
    for left in (20, 19, 19, 18):
        await clock.advance(0.5)
        assert await ttl(cache) == left
    await clock.advance(19)
    assert await ttl(cache) == 30 and source.asked == 2
    # The same question many times at once goes out once.
    await clock.advance(31)
    await asyncio.gather(*(ttl(cache) for _ in range(20)))
    assert source.asked == 3


@pytest.mark.parametrize(
    ("code", "own", "seconds"),
    [
        (wire.NOERROR, 100_000, 3600),
        (wire.NOERROR, 1, 5),  # CoreDNS' least
        (wire.NXDOMAIN, 100_000, 40),  # the last field of the SOA record
        (wire.NXDOMAIN, 20, 20),
        (wire.SERVFAIL, 100, 5),
        (wire.REFUSED, 100, 0),
        (wire.NOERROR, 0, 0),
    ],
)
async def test_how_long_each_kind_is_remembered(code: int, own: int, seconds: int) -> None:
    source, cache, clock = made()
    source.code, source.ttl = code, own
    await cache.ask(query("www.example.com"))
    if seconds:
        await clock.advance(seconds - 0.5)
        await cache.ask(query("www.example.com"))
        assert source.asked == 1
        await clock.advance(1)
    await cache.ask(query("www.example.com"))
    assert source.asked == 2


async def test_nobody_is_told_to_keep_an_answer_longer_than_it_is_kept_here() -> None:
    source, cache, clock = made(success=Kind(most_seconds=30))
    source.ttl = 3600
    assert await ttl(cache) == 30
    await clock.advance(20)
    assert await ttl(cache) == 10 and source.asked == 1
    source.ttl = 1
    assert await ttl(cache, "other.example.com") == 5, "CoreDNS' least"


async def test_old_answers_are_given_while_nobody_has_a_new_one() -> None:
    source, cache, clock = made(stale_seconds=600.0, verify=True)
    assert await ttl(cache) == 30
    await clock.advance(100)
    source.ttl = -1
    assert await ttl(cache) == 0
    source.ttl = 30
    assert await ttl(cache) == 30
    await clock.advance(2000)
    source.ttl = -1
    with pytest.raises(OSError):
        await ttl(cache)


async def test_popular_answers_are_renewed_before_their_time() -> None:
    source, cache, clock = made(prefetch=2)
    for _ in range(3):
        await ttl(cache)
    await clock.advance(28)
    await ttl(cache)
    await eventually(lambda: source.asked == 2)
    assert await ttl(cache) == 30


async def test_ttls_are_kept_on_request() -> None:
    _, cache, clock = made(keep_ttl=True)
    await ttl(cache)
    await clock.advance(10)
    assert await ttl(cache) == 30


async def test_what_is_remembered_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_cache, "_MOST_BYTES", 20_000)
    source, cache, _ = made()
    for number in range(60):
        source.code = wire.NXDOMAIN if number % 2 else wire.NOERROR
        await cache.ask(query(f"n{number}.example.com"))
        assert cache.size <= 20_000
    assert 20 < cache.metrics.cache_entries < 60
    evicted = sum(count for (name, _), count in cache.metrics.counters.items() if "evictions" in name)
    assert evicted == 60 - cache.metrics.cache_entries
