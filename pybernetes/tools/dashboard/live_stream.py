"""A page's WebSocket: any number of subscriptions over one connection, because browsers open only six for a server.

The page sends ``{"id": 1, "op": "table", …}``, ``{"id": 1, "op": "stop"}`` and, to what listens, ``{"id": 1, "op": "say", …}``; it gets messages with the same id, the last
of which has ``end``. What can be subscribed to is in ``live``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cache
from typing import Any

import orjson

from pybernetes.client.errors import StatusError
from pybernetes.lib.discover import discover
from pybernetes.lib.http.websocket import TEXT, WebSocketError
from pybernetes.lib.http.websocket_connection import WebSocket
from pybernetes.tools.dashboard.live._channel import Channel
from pybernetes.tools.dashboard.user import User

_MOST_SUBSCRIPTIONS = 64
_LARGEST_MESSAGE = 64 << 10
_POLICY_VIOLATION = 1008


@cache
def _operations() -> dict[str, Callable[[Channel], Any]]:
    return discover("pybernetes.tools.dashboard.live", "RUN")


class LiveStream:
    """The subscriptions of one page."""

    def __init__(self, user: User, socket: WebSocket) -> None:
        self._user, self._socket = user, socket
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._channels: dict[int, Channel] = {}

    async def serve(self) -> None:
        """Serve until the page is gone, or says what it must not."""
        try:
            while (message := await self._socket.receive()) is not None:
                self._take(message)
        except WebSocketError:
            pass  # the page has been told
        except ValueError:
            self._socket.close(_POLICY_VIOLATION)
        finally:
            for task in list(self._tasks.values()):
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def _take(self, message: bytes) -> None:
        """Begin or end a subscription; ValueError if that is not what the page says."""
        if len(message) > _LARGEST_MESSAGE:
            raise ValueError("the message is too large")
        ask = orjson.loads(message)
        number = ask.get("id") if isinstance(ask, dict) else None
        if type(number) is not int:
            raise ValueError("the message has no id")
        operation = ask.get("op")
        if operation == "stop":
            if (task := self._tasks.get(number)) is not None:
                task.cancel()
            return
        if operation == "say":
            if (channel := self._channels.get(number)) is not None:
                channel.hear(ask)
            return
        if number in self._tasks or len(self._tasks) >= _MOST_SUBSCRIPTIONS:
            raise ValueError("there are too many subscriptions, or two with one id")

        async def send(message: dict[str, Any]) -> None:
            await self._socket.send(orjson.dumps({"id": number, **message}), TEXT)

        channel = self._channels[number] = Channel(self._user, ask, send)
        task = self._tasks[number] = asyncio.get_running_loop().create_task(self._run(channel, operation))
        task.add_done_callback(lambda _: self._forget(number))

    def _forget(self, number: int) -> None:
        self._tasks.pop(number, None)
        self._channels.pop(number, None)

    async def _run(self, channel: Channel, operation: Any) -> None:
        last: dict[str, Any] = {"end": True}
        try:
            run = _operations().get(operation) if isinstance(operation, str) else None
            if run is None:
                raise ValueError("there is no such operation")
            await run(channel)
        except StatusError as error:
            last["error"] = {"code": error.code, "reason": error.reason, "message": str(error)}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            # What the page or the server sent is not what it should be.
            last["error"] = {"code": 400, "reason": "BadRequest", "message": str(error)}
        except OSError as error:
            last["error"] = {"code": 503, "reason": "ServiceUnavailable", "message": str(error)}
        if not self._socket.closed:
            await channel.send(last)
