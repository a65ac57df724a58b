"""A request as the kubelet's server knows it, and the errors that it answers with."""

from __future__ import annotations

from pybernetes.lib.http import messages


class Request(messages.Request):
    """One request to the kubelet."""

    __slots__ = ()

    def flag(self, name: str) -> bool:
        """Return whether a query parameter says yes: all but "false" and "0" does, as upstream reads it."""
        return name in self.query and self.parameter(name).lower() not in ("false", "0")

    @property
    def upgrade(self) -> str:
        """What the connection is to become, in lower case."""
        return self.header(b"upgrade").lower()

    @property
    def path_parts(self) -> list[str]:
        """The parts of the path."""
        return self.path.strip("/").split("/")


class HttpError(Exception):
    """An answer that says what is wrong."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


def page_not_found() -> HttpError:
    """Return the error for a path that nothing is at."""
    return HttpError(404, "404 page not found\n")
