"""Streams of many clients that do not read: what waits for them counts together, and the slowest go."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Any

import pytest

from pybernetes.lib.http.stream import Stream
from pybernetes.lib.http.unread import Unread

MEGABYTE = 1 << 20


class Client:
    """A client that takes nothing until it is told to; to a stream it looks like a connection and its transport."""

    backlog = 8 * MEGABYTE

    def __init__(self, unread: Unread, owner: str = "jane") -> None:
        self.unread, self.owner, self.transport = unread, owner, self
        self.behind, self.aborted = 0, False
        self.stream = Stream()
        self.stream.attach(self)

    def write(self, data: bytes) -> None:
        self.behind += len(data)
        if self.behind > 65536:
            self.stream.pause()

    def get_write_buffer_size(self) -> int:
        return self.behind

    def flush_later(self, stream: Stream) -> None:
        stream.flush()

    def left_unread(self, parts: Sequence[Sized]) -> None:
        self.unread.hold(self, self.owner, parts)

    def all_read(self) -> None:
        self.unread.release(self)

    def finished(self) -> None:
        pass

    def abort(self) -> None:
        self.aborted = True
        self.stream.lost()

    def read(self) -> None:
        self.behind = 0
        self.stream.resume()


@pytest.fixture
def unread() -> Unread:
    return Unread(64 * MEGABYTE, 16 * MEGABYTE)


def test_an_owner_has_so_much_for_all_of_his_watches(unread: Unread) -> None:
    """A change of a megabyte to 800 watches that are not read took 2 GB: each was allowed 8 MB of its own."""
    clients = [Client(unread) for _ in range(100)]
    other = Client(unread, "joe")
    for client in (*clients, other):
        client.stream.write(bytes(MEGABYTE))
    assert unread.size <= 17 * MEGABYTE
    assert [client.aborted for client in clients] == [True] * 84 + [False] * 16 and not other.aborted
    clients[-1].read()
    assert unread.size == 16 * MEGABYTE
    for client in clients:
        client.stream.lost()
    other.read()
    assert unread.size == 0


def test_what_waits_for_several_counts_once(unread: Unread) -> None:
    clients = [Client(unread) for _ in range(30)]
    for client in clients:
        client.stream.write(bytes(70_000))  # as much as a connection takes anyhow
    shared = [bytes([number]) * MEGABYTE for number in range(5)]
    for frame in shared:
        for client in clients:
            client.stream.write(frame)
    assert not any(client.aborted for client in clients)
    assert unread.size == 5 * MEGABYTE + 30 * 70_000
    clients[0].read()
    assert clients[0].behind == 5 * MEGABYTE  # written for this one alone
    assert unread.size == 10 * MEGABYTE + 29 * 70_000


def test_streams_that_are_hardly_behind_are_nobodys_business(unread: Unread) -> None:
    clients: list[Any] = [Client(unread) for _ in range(500)]
    for client in clients:
        client.stream.write(bytes(70_000))
        client.stream.write(bytes(70_000))
    assert unread.size == 0 and not any(client.aborted for client in clients)
