"""Asks other servers about names outside of the cluster, and caches their answers."""

from __future__ import annotations

import asyncio
import logging
import secrets
import struct
from typing import NamedTuple

from pybernetes.lib.clock import Clock
from pybernetes.node.dns import wire
from pybernetes.node.dns.config import Configuration, Server
from pybernetes.node.dns.metrics import Metrics

log = logging.getLogger(__name__)
_ATTEMPT_SECONDS = 2.0
_ATTEMPTS = 3
_MOST_SECONDS, _DENIAL_SECONDS, _FAILURE_SECONDS = 3600, 30, 5
_MOST_BYTES = 16 << 20  # of all answers that are remembered
_ENTRY_BYTES = 500  # what one takes beside its question and its message
_AT_ONCE = 1000


class _CachedAnswer(NamedTuple):
    message: bytes
    ttl_offsets: list[int]
    since: float
    until: float


class Forwarder:
    """Asks other servers. Those that do not answer are asked last for a while."""

    def __init__(
        self, configuration: Configuration, metrics: Metrics | None = None, clock: Clock | None = None
    ) -> None:
        self.configuration = configuration
        self.metrics = metrics or Metrics()
        self._clock = clock or Clock()
        self._cache: dict[bytes, _CachedAnswer] = {}
        self._cached_bytes = 0
        self._asking: dict[bytes, asyncio.Task[bytes]] = {}
        self._failed: dict[Server, int] = {}

    def configure(self, configuration: Configuration) -> None:
        """Use another configuration; answers of the old servers are forgotten."""
        if configuration != self.configuration:
            self.configuration = configuration
            self._cache.clear()
            self._cached_bytes = 0
            self._failed.clear()

    async def ask(self, question: bytes) -> bytes:
        """Return the answer to a question (in lower case), from memory if it is still good."""
        cached = self._cache.get(question)
        now = self._clock.monotonic()
        if cached is not None and now < cached.until:
            self.metrics.cache_hits += 1
            return _aged(cached, int(now - cached.since))
        self.metrics.cache_misses += 1
        task = self._asking.get(question)
        if task is None:
            if len(self._asking) >= _AT_ONCE:
                raise OSError("too many questions are on their way already")
            # A task of its own: whoever else has the same question waits for the same answer.
            task = self._asking[question] = asyncio.create_task(self._fetch(question))
            task.add_done_callback(lambda done: self._asked(question, done))
        return await asyncio.shield(task)

    def _asked(self, question: bytes, task: asyncio.Task[bytes]) -> None:
        del self._asking[question]
        if not task.cancelled():
            task.exception()  # whoever waited has it; nobody may have

    async def _fetch(self, question: bytes) -> bytes:
        servers = sorted(
            self.configuration.servers(question[:-4]), key=lambda server: self._failed.get(server, 0)
        )
        if not servers:
            raise OSError("there is nobody to ask")
        message = b""
        for attempt in range(max(_ATTEMPTS, len(servers)) if len(servers) > 1 else 2):
            to = servers[attempt % len(servers)]
            name = f"{to[0]}:{to[1]}"
            self.metrics.forwarded[name] = self.metrics.forwarded.get(name, 0) + 1
            try:
                async with asyncio.timeout(_ATTEMPT_SECONDS):
                    message = await exchange(question, to)
                self._failed.pop(to, None)
                if message[3] & 15 != wire.SERVFAIL:
                    break
            except (OSError, TimeoutError, wire.Malformed) as error:
                if not self._failed.get(to):
                    log.warning("the name server %s does not answer: %s", name, error or "timeout")
                self._failed[to] = self._failed.get(to, 0) + 1
                self.metrics.forward_failures[name] = self.metrics.forward_failures.get(name, 0) + 1
        if not message:
            raise OSError("no name server answered")
        return self._remember(question, message)

    def _remember(self, question: bytes, message: bytes) -> bytes:
        """Cache an answer for as long as it says, without the EDNS option that was meant for us alone."""
        end = wire.read_question(message)[2]
        answers, authorities, extras = struct.unpack_from(">HHH", message, 6)
        records, ttl_offsets, at = wire.read_records(message, end, answers + authorities)
        extra_records, extra_ttl_offsets, _ = wire.read_records(message, at, extras)
        if extra_records and extra_records[-1].type == wire.OPT:
            cut = extra_ttl_offsets[-1] - 5
            message = message[:10] + (extras - 1).to_bytes(2) + message[12:cut]
            extra_ttl_offsets.pop()
        code = message[3] & 15
        if code == wire.NOERROR and answers:
            seconds = min(_MOST_SECONDS, *(record.ttl for record in records[:answers]))
        elif code in (wire.NOERROR, wire.NXDOMAIN):
            limits = [
                min(record.ttl, int.from_bytes(record.data[-4:]))
                for record in records
                if record.type == wire.SOA
            ]
            seconds = min(_DENIAL_SECONDS, *limits) if limits else 0
        else:
            seconds = _FAILURE_SECONDS if code == wire.SERVFAIL else 0
        if seconds:
            now = self._clock.monotonic()
            self._forget(question)
            self._cached_bytes += _size(question, message)
            while self._cached_bytes > _MOST_BYTES:
                self._forget(next(iter(self._cache)))  # the oldest
            self._cache[question] = _CachedAnswer(
                message, ttl_offsets + extra_ttl_offsets, now, now + seconds
            )
        self.metrics.cache_entries = len(self._cache)
        return message

    def _forget(self, question: bytes) -> None:
        cached = self._cache.pop(question, None)
        if cached is not None:
            self._cached_bytes -= _size(question, cached.message)


def _size(question: bytes, message: bytes) -> int:
    return _ENTRY_BYTES + len(question) + len(message)


def _aged(cached: _CachedAnswer, seconds: int) -> bytes:
    """Return a message with its age subtracted from its TTLs."""
    if not seconds:
        return cached.message
    message = bytearray(cached.message)
    for at in cached.ttl_offsets:
        ttl = struct.unpack_from(">I", message, at)[0]
        struct.pack_into(">I", message, at, max(0, ttl - seconds))
    return bytes(message)


async def exchange(question: bytes, to: Server) -> bytes:
    """Send a question from a port of its own and return the answer; over TCP if it is too long for UDP."""
    identifier = secrets.randbits(16)
    sent = wire.query(identifier, question)
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[bytes] = loop.create_future()
    transport, _ = await loop.create_datagram_endpoint(lambda: _Once(answer, sent), remote_addr=to)
    try:
        transport.sendto(sent)
        message = await answer
    finally:
        transport.close()
    if not message[2] & 2:
        return message
    reader, writer = await asyncio.open_connection(*to)
    try:
        writer.write(len(sent).to_bytes(2) + sent)
        message = await reader.readexactly(int.from_bytes(await reader.readexactly(2)))
    except asyncio.IncompleteReadError:
        raise OSError("the connection ended too early") from None
    finally:
        writer.close()
    if not _fits(message, sent):
        raise wire.Malformed("an answer to another question")
    return message


def _fits(message: bytes, sent: bytes) -> bool:
    """Return whether a message answers our question."""
    try:
        end = wire.read_question(message)[2]
    except wire.Malformed:
        return False
    same = message[12:end].lower() == sent[12 : len(sent) - 11].lower()
    return bool(message[2] & 0x80) and message[:2] == sent[:2] and same


class _Once(asyncio.DatagramProtocol):
    def __init__(self, answer: asyncio.Future[bytes], sent: bytes) -> None:
        self._answer, self._sent = answer, sent

    def datagram_received(self, data: bytes, addr: object) -> None:
        # Anything else may be a guess of somebody who wants to be believed.
        if not self._answer.done() and _fits(data, self._sent):
            self._answer.set_result(data)

    def error_received(self, exc: Exception) -> None:
        if not self._answer.done():
            self._answer.set_exception(exc)
