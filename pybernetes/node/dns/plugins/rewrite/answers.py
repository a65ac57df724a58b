"""What a rewrite does to the answer on its way back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from pybernetes.node.dns import wire
from pybernetes.node.dns.message import Message
from pybernetes.node.dns.plugins.rewrite.matching import Matcher, groups_of, plain_text
from pybernetes.node.dns.query import Handler, Query
from pybernetes.node.dns.wire import Record

# Gives a name in another form, or the same.
Renamer = Callable[[str], str]
# Where in its data a record has a name.
_NAMES_AT = {wire.NS: 0, wire.CNAME: 0, wire.PTR: 0, wire.MX: 2, wire.SRV: 6}


class AnswerRule(Protocol):
    """Changes an answer."""

    async def change(self, message: Message, query: Query, following: Handler) -> None:
        """Change a message in place."""


def remap(from_: str, to: str) -> Renamer:
    """Return what maps a name, and those below it, to another."""

    def rename(text: str) -> str:
        if text == from_:
            return to
        return text[: -len(from_)] + to if text.endswith("." + from_) else text

    return rename


def suffix(from_: str, to: str) -> Renamer:
    """Return what maps the end of names to another."""
    return lambda text: text[: len(text) - len(from_)] + to if text.endswith(from_) else text


def by_expression(expression: Any, to: str) -> Renamer:
    """Return what maps names by a regular expression."""

    def rename(text: str) -> str:
        changed = groups_of(text, expression, to)
        return text if changed is None else changed

    return rename


def _renamed(name: bytes, rename: Renamer) -> bytes:
    text = plain_text(name.lower())
    if text is None:
        return name
    changed = rename(text)
    return name if changed == text else wire.name(changed)


@dataclass(frozen=True, slots=True)
class Names:
    """Renames the owners of records."""

    rename: Renamer

    async def change(self, message: Message, query: Query, following: Handler) -> None:
        """Change a message in place."""
        _change_records(message, lambda record: record._replace(owner=_renamed(record.owner, self.rename)))


@dataclass(frozen=True, slots=True)
class Values:
    """Renames what records say."""

    rename: Renamer

    async def change(self, message: Message, query: Query, following: Handler) -> None:
        """Change a message in place."""
        _change_records(message, self._value)

    def _value(self, record: Record) -> Record:
        if record.type == wire.SOA:
            first, at = wire.read_name(record.data, 0)
            return record._replace(data=_renamed(first, self.rename) + record.data[at:])
        at = _NAMES_AT.get(record.type, -1)
        if at < 0:
            return record
        return record._replace(data=record.data[:at] + _renamed(record.data[at:], self.rename))


@dataclass(frozen=True, slots=True)
class Ttl:
    """Puts TTLs between two bounds."""

    least: int
    most: int

    async def change(self, message: Message, query: Query, following: Handler) -> None:
        """Change a message in place."""
        _change_records(
            message, lambda record: record._replace(ttl=min(self.most, max(self.least, record.ttl)))
        )


@dataclass(frozen=True, slots=True)
class Code:
    """Gives another code instead of one."""

    from_: int
    to: int

    async def change(self, message: Message, query: Query, following: Handler) -> None:
        """Change a message in place."""
        if message.code == self.from_:
            message.code = self.to


@dataclass(frozen=True, slots=True)
class Alias:
    """Leads an alias to another name, which is asked about."""

    matcher: Matcher

    async def change(self, message: Message, query: Query, following: Handler) -> None:
        """Change a message in place."""
        for place, record in enumerate(message.answers):
            text = plain_text(record.data.lower()) if record.type == wire.CNAME else None
            target = self.matcher.changed(text) if text is not None else None
            if target is None:
                continue
            name = wire.name(target)
            other = Message.read(await following(query._replace(question=name + query.question[-4:])))
            message.answers = [*message.answers[:place], record._replace(data=name), *other.answers]
            message.truncated = other.truncated
            return


def _change_records(message: Message, change: Callable[[Record], Record]) -> None:
    message.answers = [change(record) for record in message.answers]
    message.authorities = [change(record) for record in message.authorities]
    message.extras = [change(record) for record in message.extras]
