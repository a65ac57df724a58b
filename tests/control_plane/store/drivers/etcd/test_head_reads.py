"""Reads of the revision, with a cluster that answers when it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from aetcd.rpc import rpc_pb2 as rpc

from pybernetes.control_plane.store.drivers.etcd import head_reads
from pybernetes.control_plane.store.drivers.etcd.head_reads import HeadReads
from pybernetes.control_plane.store.protocol import Unanswered, Unavailable
from pybernetes.lib.grpc.status import RpcError, StatusCode
from pybernetes.lib.grpc.stream import Stream


def answer(revision: int) -> bytes:
    """Return what etcd answers."""
    return rpc.RangeResponse(header=rpc.ResponseHeader(revision=revision)).SerializeToString()


class Cluster:
    """The client of a cluster with one endpoint, which is its own method Range."""

    def __init__(self) -> None:
        self.kv = self.Range = self.current = self
        self.begun: list[Stream] = []
        self.left = 0
        self.is_connected = True
        self.called: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def begin(self, message: bytes, timeout: float, ended: Callable[[Stream], None]) -> Stream | None:
        """Take a question."""
        assert rpc.RangeRequest.FromString(message).key == b"/barrier"
        if not self.is_connected:
            return None
        stream = Stream(message, 1 << 20, is_unary=True, is_done_sending=True)
        stream.on_end = ended
        self.begun.append(stream)
        return stream

    def leave(self, endpoint: object) -> None:
        """Count how often somebody gives the endpoint up."""
        self.left += 1

    async def call(self, method: Any, request: Any, *, timeout: float) -> tuple[Any, bool]:
        """Answer in the usual way, as soon as the test says so."""
        assert 0 < timeout <= 10.0
        return rpc.RangeResponse(header=rpc.ResponseHeader(revision=await self.called)), False

    def tell(self, message: bytes) -> None:
        """Answer the question of last."""
        stream = self.begun[-1]
        stream.headers({b":status": b"200", b"content-type": b"application/grpc"})
        stream.received(b"\0" + len(message).to_bytes(4, "big") + message, len(message) + 5)
        stream.trailers({b"grpc-status": b"0"})


def reads(cluster: Any) -> HeadReads:
    """Return what is tested."""
    return HeadReads(cluster, b"/barrier")


async def test_a_read_begins_before_it_is_waited_for() -> None:
    cluster = Cluster()
    waiting = reads(cluster).read()
    assert len(cluster.begun) == 1 and not waiting.done()
    cluster.tell(answer(7))
    assert await waiting == 7


async def test_who_comes_during_a_read_waits_for_one_that_begins_later() -> None:
    cluster = Cluster()
    tested = reads(cluster)
    first, second, third = tested.read(), tested.read(), tested.read()
    assert len(cluster.begun) == 1
    cluster.tell(answer(7))
    assert (first.result(), second.done(), len(cluster.begun)) == (7, False, 2)
    cluster.tell(answer(9))
    assert (second.result(), third.result(), len(cluster.begun)) == (9, 9, 2)
    assert not tested.read().done() and len(cluster.begun) == 3


async def test_nobody_reads_for_those_who_have_gone() -> None:
    cluster = Cluster()
    tested = reads(cluster)
    first, second = tested.read(), tested.read()
    first.cancel()
    second.cancel()
    cluster.tell(answer(7))
    assert len(cluster.begun) == 1
    third = tested.read()
    cluster.tell(answer(8))
    assert await third == 8


@pytest.mark.parametrize(
    ("code", "left"), [(StatusCode.UNAVAILABLE, 1), (StatusCode.DEADLINE_EXCEEDED, 1), (StatusCode.INTERNAL, 0)]
)  # fmt: skip
async def test_a_read_that_fails_is_made_in_the_usual_way(code: StatusCode, left: int) -> None:
    cluster = Cluster()
    waiting = reads(cluster).read()
    cluster.begun[0].end(RpcError(code, "no"))
    cluster.called.set_result(11)
    assert (await waiting, cluster.left, len(cluster.begun)) == (11, left, 1)


async def test_an_answer_that_is_none_is_asked_for_again() -> None:
    cluster = Cluster()
    waiting = reads(cluster).read()
    cluster.tell(b"\xff\xff")
    cluster.called.set_result(11)
    assert await waiting == 11


async def test_without_a_connection_one_is_made() -> None:
    cluster = Cluster()
    cluster.is_connected = False
    tested = reads(cluster)
    first, second = tested.read(), tested.read()
    cluster.is_connected = True
    cluster.called.set_result(3)
    assert await first == 3
    cluster.tell(answer(4))
    assert await second == 4


async def test_who_waits_hears_that_nobody_answers() -> None:
    cluster = Cluster()
    cluster.is_connected = False
    waiting = reads(cluster).read()
    cluster.called.set_exception(Unanswered("etcd cannot be reached"))
    with pytest.raises(Unavailable, match="cannot be reached"):
        await waiting


async def test_a_read_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head_reads, "ATTEMPT_SECONDS", 0.02)
    cluster = Cluster()
    tested = reads(cluster)
    early = tested.read()
    cluster.tell(answer(1))
    assert await early == 1  # its timer stays, and finds the next one
    late = tested.read()
    cluster.called.set_result(5)
    assert (await late, cluster.left) == (5, 1)
    tested.close()
