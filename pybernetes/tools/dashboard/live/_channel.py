"""What a subscription is given: the user, what the page asked for, and the way back to the page."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from pybernetes.client.errors import Expired, StatusError
from pybernetes.tools.dashboard import api_paths
from pybernetes.tools.dashboard.user import User

Send = Callable[[dict[str, Any]], Awaitable[None]]
_FIRST_DELAY, _LONGEST_DELAY, _SHORT_SECONDS = 0.25, 15.0, 1.0


class Channel:
    """A subscription. ``ask`` has what the page said, of which nothing can be trusted."""

    def __init__(self, user: User, ask: dict[str, Any], send: Send) -> None:
        self.user, self._ask, self.send = user, ask, send

    def text(self, name: str) -> str:
        """Return a text that the page sent, empty if it did not; ValueError if it is something else."""
        value = self._ask.get(name, "")
        if not isinstance(value, str):
            raise ValueError(f"{name} must be a text")
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
