"""Posts a review to a server and gives the status that it answered with; a failure that may pass is tried again."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import orjson

from pybernetes.control_plane.apiserver.review_webhooks.kubeconfig import Remote
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.http.client import HttpClient, RequestFailed
from pybernetes.lib.http.messages import Reply

_TRIES, _FIRST_PAUSE, _FACTOR, _JITTER = 5, 0.5, 1.5, 0.2
_AGAIN = (429, 500)
# An answer names a user or a reason: more than this is none.
_MOST_BYTES = 3 << 20


class ReviewFailed(Exception):
    """There is no answer; the text says why. ``outcome`` is upstream's word for metrics, ``code`` the status or 0."""

    def __init__(self, text: str, outcome: str = "error", code: int = 0) -> None:
        super().__init__(text)
        self.outcome, self.code = outcome, code


class Reviewer:
    """One server. ``seconds`` is how long a try may take."""

    def __init__(
        self, remote: Remote, https: HttpClient, api_version: str, kind: str, seconds: float
    ) -> None:
        self._remote, self._https, self._seconds = remote, https, seconds
        self._head = {"kind": kind, "apiVersion": api_version, "metadata": {}}

    async def ask(self, spec: dict[str, Any], *, tries: int = _TRIES) -> dict[str, Any]:
        """Return the status of the answered review; ReviewFailed if there is none."""
        body = orjson.dumps({**self._head, "spec": spec, "status": {}})
        pause = _FIRST_PAUSE
        for attempt in range(tries):
            try:
                return await self._ask(body)
            except ReviewFailed as error:
                again = error.code in _AGAIN or "connection refused" in str(error) or str(error) == "EOF"
                if attempt + 1 == tries or not again:
                    raise
            await asyncio.sleep(pause * (1 + _JITTER * random.random()))
            pause *= _FACTOR
        raise AssertionError("there is at least one try")

    async def _ask(self, body: bytes) -> dict[str, Any]:
        remote = self._remote
        try:
            reply = await self._https.send(
                remote.peer, "POST", remote.path, body, remote.headers(), self._seconds
            )
        except RequestFailed as error:
            late = "deadline" in str(error)
            raise ReviewFailed(f'Post "{remote.url}": {error}', "timeout" if late else "error") from None
        except OSError as error:  # a token may be in a file
            raise ReviewFailed(str(error)) from None
        if len(reply.body) > _MOST_BYTES:
            raise ReviewFailed("the answer is too large", code=reply.status)
        if not 200 <= reply.status < 300:
            raise ReviewFailed(
                f"the server responded with the status code {reply.status}",
                "timeout" if reply.status == 504 else "error",
                reply.status,
            )
        return await off_loop.run(len(reply.body), self._read, reply)

    def _read(self, reply: Reply) -> dict[str, Any]:
        try:
            value = orjson.loads(reply.body)
        except ValueError as error:
            raise ReviewFailed(f"the answer cannot be read: {error}", code=reply.status) from None
        if not isinstance(value, dict) or (value.get("kind"), value.get("apiVersion")) != (
            self._head["kind"],
            self._head["apiVersion"],
        ):
            raise ReviewFailed(
                f"the answer is no {self._head['kind']} of {self._head['apiVersion']}", code=reply.status
            )
        status = value.get("status") or {}
        if not isinstance(status, dict):
            raise ReviewFailed("the status of the answer is no object", code=reply.status)
        return status


def texts(value: Any) -> tuple[str, ...]:
    """Return a list of texts that a server answered with; ReviewFailed if it is anything else."""
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ReviewFailed("the answer has no list of texts where one belongs")
    return tuple(value)
