"""Linearizable reads of nothing but the cluster's revision: one at a time, each for all who asked before it began.

A read of an object waits for one of these, so what is between the question and the answer is kept short: no task, no
timer of its own, and nothing between the bytes and whoever waits.
"""

from __future__ import annotations

import asyncio

from aetcd.rpc import rpc_pb2 as rpc

from pybernetes.control_plane.store.drivers.etcd.client import (
    ATTEMPT_SECONDS,
    CALL_SECONDS,
    TRIED_AGAIN,
    Endpoint,
    EtcdClient,
)
from pybernetes.control_plane.store.protocol import Unavailable
from pybernetes.lib.grpc.stream import Stream

Waiters = list[asyncio.Future[int]]


class HeadReads:
    """Asks for the revision as often as somebody wants to know it."""

    def __init__(self, client: EtcdClient, key: bytes) -> None:
        self._client = client
        self._request = rpc.RangeRequest(key=key, keys_only=True)
        self._question = self._request.SerializeToString()
        self._is_reading = False
        self._waiters: Waiters = []  # for the read that is under way
        self._next: Waiters = []  # for the one after it
        self._stream: Stream | None = None
        self._endpoint: Endpoint | None = None
        self._begun = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def read(self) -> asyncio.Future[int]:
        """Return what a read will tell that begins now or later; Unavailable if there is no answer."""
        waiter: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        if self._is_reading:
            # The read that is under way may have been answered before this call: only the next one counts.
            self._next.append(waiter)
        else:
            self._begin([waiter])
        return waiter

    def close(self) -> None:
        """Wait for nothing any more; whoever waits is told so by the connections that end."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def once(self, timeout: float) -> int:
        """Return the revision by a read for one caller, who has his own limit of time."""
        answer, _ = await self._client.call(
            lambda endpoint: endpoint.kv.Range, self._request, timeout=timeout
        )
        revision: int = answer.header.revision
        return revision

    def _begin(self, waiters: Waiters) -> None:
        loop = asyncio.get_running_loop()
        self._is_reading, self._waiters = True, waiters
        self._begun = loop.time()
        endpoint = self._endpoint = self._client.current
        self._stream = endpoint.kv.Range.begin(self._question, ATTEMPT_SECONDS, self._ended)
        if self._stream is None:  # there is no connection yet
            self._try_again()
        elif self._timer is None:
            self._timer = loop.call_later(ATTEMPT_SECONDS, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """End a read that takes too long; one timer does for all of them."""
        self._timer = None
        if self._stream is None:
            return
        late = loop.time() - self._begun
        if late < ATTEMPT_SECONDS:
            self._timer = loop.call_later(ATTEMPT_SECONDS - late, self._look, loop)
        else:
            self._stream.expire()

    def _ended(self, stream: Stream) -> None:
        """Take the answer to whoever waits."""
        self._stream = None
        answer, error = stream.outcome()
        if error is None:
            try:
                revision: int = rpc.RangeResponse.FromString(answer).header.revision
            except Exception:  # what etcd sent is no answer: the usual way says so
                self._try_again()
            else:
                self._tell(revision)
            return
        if error.code in TRIED_AGAIN and self._endpoint is not None:
            self._client.leave(self._endpoint)
        self._try_again()

    def _try_again(self) -> None:
        """Read in the way of all other calls, which finds an endpoint that answers."""
        self._task = asyncio.get_running_loop().create_task(self._read(), name="etcd-head-read")

    async def _read(self) -> None:
        left = CALL_SECONDS - (asyncio.get_running_loop().time() - self._begun)
        try:
            revision = await self.once(left)
        except BaseException as error:
            failure = (
                error if isinstance(error, Unavailable) else Unavailable(f"etcd was not read: {error!r}")
            )
            self._tell(failure)
            if not isinstance(error, Exception):
                raise
        else:
            self._tell(revision)

    def _tell(self, outcome: int | Unavailable) -> None:
        for waiter in self._waiters:
            if waiter.done():
                continue
            if isinstance(outcome, Unavailable):
                waiter.set_exception(outcome)
            else:
                waiter.set_result(outcome)
        waiting = [waiter for waiter in self._next if not waiter.done()] if self._next else []
        self._next, self._waiters, self._is_reading = [], [], False
        if waiting:
            self._begin(waiting)
