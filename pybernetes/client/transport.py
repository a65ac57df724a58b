"""What a client needs from whoever carries its calls to an API server.

There are two: ``rest.Rest`` speaks HTTPS, and the API server's ``inprocess.InProcessTransport`` calls the server of the same
process. Neither knows the other, and the second does not know this package: any object with these methods is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:  # the kinds with their schemas, of which a client needs nothing
    from pybernetes.api.resource import Object

Headers = dict[bytes, bytes]


class Event(NamedTuple):
    """A change: ``type`` is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR."""

    type: str
    object: Object


class Events(Protocol):
    """An open watch."""

    async def batch(self) -> list[tuple[str, Object]]:
        """Return the changes that came up since the last call, at least one; none at all if the watch has ended."""

    def close(self) -> None:
        """End the watch."""


class Bytes(Protocol):
    """A body that goes on: the log of a container."""

    async def read(self) -> bytes:
        """Return what came up since the last call; nothing at all at the end."""

    def close(self) -> None:
        """End the stream."""


class Raw(Protocol):
    """A connection after an upgrade."""

    @property
    def headers(self) -> Headers:
        """The headers of the answer, their names in lower case."""

    async def read(self) -> bytes:
        """Return what came up since the last call; nothing at all at the end."""

    def write(self, data: bytes) -> None:
        """Queue bytes."""

    async def drain(self) -> None:
        """Wait until what is queued is not too much."""

    def close(self) -> None:
        """End the connection once what is queued is sent."""


class Transport(Protocol):
    """Carries calls. Paths are absolute and escaped, queries are encoded, bodies are bytes."""

    async def send(
        self, method: str, path: str, query: str = "", body: bytes = b"", headers: Headers | None = None
    ) -> tuple[int, Any]:
        """Return the status and the decoded body of an answer; text that is not JSON comes as a string."""

    async def watch(self, path: str, query: str, headers: Headers | None = None) -> Events:
        """Open a watch; StatusError if the server refuses."""

    async def stream(
        self, method: str, path: str, query: str = "", body: bytes = b"", headers: Headers | None = None
    ) -> Bytes:
        """Open a body that goes on; StatusError if the server refuses."""

    async def upgrade(self, path: str, query: str, headers: Headers) -> Raw:
        """Turn a request into a connection of another protocol; StatusError if the server refuses."""

    async def close(self) -> None:
        """Let go of connections."""
