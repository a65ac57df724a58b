"""The backend that posts events to a server, which a kubeconfig names."""

from __future__ import annotations

import asyncio
import random
from argparse import Namespace
from collections.abc import Awaitable

from pybernetes.control_plane.apiserver.audit.backends import common
from pybernetes.control_plane.apiserver.audit.backends.common import (
    BATCH,
    STRICT,
    Buffer,
    Item,
    Losses,
    Options,
)
from pybernetes.control_plane.apiserver.audit.event import Event
from pybernetes.control_plane.apiserver.webhooks.kubeconfig import Remote, load
from pybernetes.lib.exposition import Exposition
from pybernetes.lib.flags import Flag, Seconds
from pybernetes.lib.https_client import HttpsClient, RequestFailed

NAME = "webhook"
FLAGS = (
    Flag("audit-webhook-config-file", "", "kubeconfig of the server that events are posted to"),
    Flag("audit-webhook-initial-backoff", Seconds(10), "how long to wait after the first failure"),
    *common.flags(NAME, Options(BATCH, max_size=400, max_wait=30.0, qps=10.0, burst=15)),
)
_TRIES, _FACTOR, _JITTER = 5, 1.5, 0.2
_REQUEST_SECONDS = 30.0
_HEAD, _TAIL = b'{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[', b"]}"


def build(given: Namespace) -> Webhook | None:
    """The backend that the flags ask for; None if they do not."""
    if not given.audit_webhook_config_file:
        return None
    try:
        remote = load(given.audit_webhook_config_file)
    except ValueError as error:
        raise ValueError(f"initializing audit webhook: {error}") from None
    return Webhook(remote, common.options(NAME, given), given.audit_webhook_initial_backoff)


class Webhook:
    """The backend."""

    def __init__(self, remote: Remote, options: Options, pause: float) -> None:
        self._remote, self._options, self._pause = remote, options, pause
        self._https = HttpsClient()
        self._losses = Losses(NAME)
        self._buffer = Buffer(options, self._deliver, self._losses) if options.mode == BATCH else None
        self._ending = asyncio.Event()

    async def start(self) -> None:
        """Sends from now on."""
        if self._buffer is not None:
            self._buffer.start()

    async def close(self) -> None:
        """Sends what waits, each batch once."""
        self._ending.set()
        if self._buffer is not None:
            await self._buffer.close()
        self._https.close()

    def take(self, event: Event, line: bytes) -> bool | Awaitable[bool]:
        """Sends an event, or has it wait for its batch."""
        item: Item | None = (dict(event), line)
        if self._options.truncate and item is not None:
            item = common.shortened(item, self._options.max_event_bytes)
        if item is None:
            self._losses.add(1, "event is too large")
            return True
        if self._buffer is not None:
            self._buffer.put(item)
            return True
        return self._now(item)

    async def _now(self, item: Item) -> bool:
        return await self._post([item[1]]) or self._options.mode != STRICT

    async def _deliver(self, items: list[Item]) -> None:
        part: list[bytes] = []
        size = 0
        for _, line in items:
            if part and self._options.truncate and size + len(line) > self._options.max_batch_bytes:
                await self._post(part)
                part, size = [], 0
            part.append(line)
            size += len(line)
        await self._post(part)

    async def _post(self, lines: list[bytes]) -> bool:
        """Posts a list of events, again after a while if it fails."""
        body = _HEAD + b",".join(lines) + _TAIL
        pause = self._pause
        problem: object = None
        for attempt in range(_TRIES):
            if attempt:
                try:
                    await asyncio.wait_for(self._ending.wait(), pause * (1 + _JITTER * random.random()))
                    break
                except TimeoutError:
                    pause *= _FACTOR
            try:
                reply = await self._https.send(
                    self._remote.peer,
                    "POST",
                    self._remote.path,
                    body,
                    self._remote.headers(),
                    _REQUEST_SECONDS,
                )
                if 200 <= reply.status < 300:
                    return True
                problem = f"the server answered with status {reply.status}"
            except RequestFailed as error:
                problem = error
        self._losses.add(len(lines), problem)
        return False

    def render(self, out: Exposition) -> None:
        """The metrics."""
        self._losses.render(out)
