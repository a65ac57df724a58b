"""A question on its way through the plugins, and what each of them is: something that answers it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeAlias

from pybernetes.node.dns import wire


class Query(NamedTuple):
    """A question, and who asked it how."""

    question: bytes  # the name in lower case, type and class, in wire format
    client: tuple[str, int] = ("", 0)
    tcp: bool = False
    size: int = 512  # what the client takes over UDP
    identifier: int = 0
    length: int = 0  # of the message that it came in
    wants_dnssec: bool = False
    moment: float = 0.0

    @property
    def name(self) -> bytes:
        """The name in wire format."""
        return self.question[:-4]

    @property
    def type(self) -> int:
        """The number of the type."""
        return int.from_bytes(self.question[-4:-2])

    @property
    def class_(self) -> int:
        """The number of the class."""
        return int.from_bytes(self.question[-2:])

    @property
    def text(self) -> str:
        """The name and the type for people."""
        return f"{wire.text(self.name)} {wire.type_text(self.type)}"


# Gives the answer to a question: a whole message whose identifier means nothing, without an EDNS option. OSError,
# TimeoutError and Malformed mean that there is none: the client is told SERVFAIL.
Handler: TypeAlias = Callable[[Query], Awaitable[bytes]]


class Dropped(Exception):
    """Nobody is to be answered."""


async def refuse(query: Query) -> bytes:
    """Answer what nobody is there for: the end of every chain."""
    from pybernetes.node.dns.message import Message

    return Message(query.question, code=wire.REFUSED).encode()
