"""The backend that posts events to a server, which a kubeconfig names."""

from __future__ import annotations

import asyncio
import random
from argparse import Namespace

from pybernetes.control_plane.apiserver.audit.backends import common
from pybernetes.control_plane.apiserver.audit.backends.common import BATCH, STRICT, Base, Item, Options
from pybernetes.control_plane.apiserver.review_webhooks.kubeconfig import Remote, load
from pybernetes.lib.flags import Flag, Seconds
from pybernetes.lib.http.client import HttpClient, RequestFailed
from pybernetes.lib.http.dialer import Dialer

NAME = "webhook"
FLAGS = (
    Flag("audit-webhook-config-file", "", "kubeconfig of the server that events are posted to"),
    Flag("audit-webhook-initial-backoff", Seconds(10), "how long to wait after the first failure"),
    *common.flags(NAME, Options(BATCH, max_size=400, max_wait=30.0, qps=10.0, burst=15)),
)
_TRIES, _FACTOR, _JITTER = 5, 1.5, 0.2
_REQUEST_SECONDS = 30.0
_HEAD, _TAIL = b'{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[', b"]}"


def build(given: Namespace, dialer: Dialer | None) -> Webhook | None:
    """Return the backend that the flags ask for, and reach it by a dialer; None if they do not."""
    if not given.audit_webhook_config_file:
        return None
    try:
        remote = load(given.audit_webhook_config_file, dialer)
    except ValueError as error:
        raise ValueError(f"initializing audit webhook: {error}") from None
    return Webhook(remote, common.options(NAME, given), given.audit_webhook_initial_backoff)


class Webhook(Base):
    """The backend."""

    name = NAME

    def __init__(self, remote: Remote, options: Options, pause: float) -> None:
        super().__init__(options)
        self._remote, self._pause = remote, pause
        self._https = HttpClient()
        self._ending = asyncio.Event()

    async def close(self) -> None:
        """Send what waits, each batch once."""
        self._ending.set()
        await super().close()
        self._https.close()

    async def send(self, item: Item) -> bool:
        """Post one event."""
        return await self._post([item[1]]) or self.options.mode != STRICT

    async def deliver(self, items: list[Item]) -> None:
        """Post a batch, in parts if it is too large."""
        part: list[bytes] = []
        size = 0
        for _, line in items:
            if part and self.options.truncate and size + len(line) > self.options.max_batch_bytes:
                await self._post(part)
                part, size = [], 0
            part.append(line)
            size += len(line)
        await self._post(part)

    async def _post(self, lines: list[bytes]) -> bool:
        """Post a list of events, again after a while if it fails."""
        body = _HEAD + b",".join(lines) + _TAIL
        pause = self._pause
        problem: object = None
        for attempt in range(_TRIES):
            if attempt:
                try:
                    async with asyncio.timeout(pause * (1 + _JITTER * random.random())):
                        await self._ending.wait()
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
            except (RequestFailed, OSError) as error:  # a token may be in a file
                problem = error
        self.losses.add(len(lines), problem)
        return False
