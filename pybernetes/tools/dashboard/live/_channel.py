"""What a subscription is given: the user, what the page asked for, and the way back to the page."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

from pybernetes.client.errors import Expired, StatusError
from pybernetes.tools.dashboard import api_paths
from pybernetes.tools.dashboard.user import User

Send = Callable[[dict[str, Any]], Awaitable[None]]
# A page of text that is pasted is one message; keys are one each.
_MOST_SAID = 1024
_NAME = re.compile(r"[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?")
_FIRST_DELAY, _LONGEST_DELAY, _SHORT_SECONDS = 0.25, 15.0, 1.0


class Channel:
    """A subscription. ``ask`` has what the page said, of which nothing can be trusted."""

    def __init__(self, user: User, ask: dict[str, Any], send: Send) -> None:
        self.user, self._ask, self.send = user, ask, send
        self._said: asyncio.Queue[dict[str, Any]] = asyncio.Queue(_MOST_SAID)

    def hear(self, message: dict[str, Any]) -> None:
        """Take what the page says to a subscription that listens; ValueError if it says more than is taken."""
        try:
            self._said.put_nowait(message)
        except asyncio.QueueFull:
            raise ValueError("the page says more than is taken")

    async def said(self) -> dict[str, Any]:
        """Return the next thing that the page says."""
        return await self._said.get()

    def text(self, name: str) -> str:
        """Return a text that the page sent, empty if it did not; ValueError if it is something else."""
        value = self._ask.get(name, "")
        if not isinstance(value, str):
            raise ValueError(f"{name} must be a text")
        return value

    def name(self, name: str) -> str:
        """Return the name of a pod or a namespace that the page sent; ValueError if none can be called that."""
        value = self.text(name)
        if not _NAME.fullmatch(value):
            raise ValueError(f"{name} must be a name")
        return value

    def list(self, name: str) -> list[Any]:
        """Return a list that the page sent; ValueError if it is something else."""
        value = self._ask.get(name)
        if not isinstance(value, list):
            raise ValueError(f"{name} must be a list")
        return value

    def path(self) -> str:
        """Return the path of the API that the page asks for; ValueError if it is none that is passed on."""
        return api_paths.checked(self.text("path"))


async def keep_following(channel: Channel, follow: Callable[[], Awaitable[None]]) -> None:
    """Follow again whenever that ends; tell the page when the server cannot be reached, and wait longer each time.

    What the server refuses is raised: asking again would not help.
    """
    failures = 0
    while True:
        began = asyncio.get_running_loop().time()
        try:
            await follow()
        except Expired:
            pass
        except StatusError as error:
            if error.code < 500 and error.code != 429:
                raise
        except OSError as error:
            await channel.send({"lost": str(error)})
        # A server that ends watches as soon as they are open must not be asked without a pause, either.
        failures = failures + 1 if asyncio.get_running_loop().time() - began < _SHORT_SECONDS else 0
        if failures:
            await asyncio.sleep(min(_LONGEST_DELAY, _FIRST_DELAY * 2 ** min(failures - 1, 10)))
