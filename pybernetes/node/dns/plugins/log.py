"""log [NAMES…] [FORMAT] { class … }: writes down each question with its answer."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

from pybernetes.node.dns import wire
from pybernetes.node.dns.corefile import CorefileError, Directive
from pybernetes.node.dns.plugin import Controller, Plugin, Wrap, zones_of
from pybernetes.node.dns.query import Handler, Query

log = logging.getLogger(__name__)
_COMMON = '{remote}:{port} - {>id} "{type} {class} {name} {proto} {size} {>do} {>bufsize}" {rcode} {>rflags} {rsize} {duration}'
_COMBINED = _COMMON + ' "{>opcode}"'
_PLACE = re.compile(r"\{[^{}]*\}")
_CLASSES = ("success", "denial", "error", "all")


def _remote(query: Query, message: bytes) -> str:
    host = query.client[0]
    return f"[{host}]" if ":" in host else host


def _flags(query: Query, message: bytes) -> str:
    high, low = message[2], message[3]
    bits = (
        (high, 0x80, "qr"),
        (high, 4, "aa"),
        (high, 2, "tc"),
        (high, 1, "rd"),
        (low, 0x80, "ra"),
        (low, 0x20, "ad"),
    )
    return ",".join(name for byte, bit, name in bits if byte & bit)


_PLACES: dict[str, Callable[[Query, bytes], object]] = {
    "{type}": lambda query, message: wire.type_text(query.type),
    "{name}": lambda query, message: _clean(wire.text(query.name)),
    "{class}": lambda query, message: wire.CLASSES.get(query.class_, f"CLASS{query.class_}"),
    "{proto}": lambda query, message: "tcp" if query.tcp else "udp",
    "{remote}": _remote,
    "{port}": lambda query, message: query.client[1],
    "{size}": lambda query, message: query.length,
    "{duration}": lambda query, message: f"{perf_counter() - query.moment:.9f}s",
    "{rcode}": lambda query, message: _code(message[3] & 15),
    "{rsize}": lambda query, message: len(message),
    "{>rflags}": _flags,
    "{>bufsize}": lambda query, message: query.size,
    "{>do}": lambda query, message: "true" if query.wants_dnssec else "false",
    "{>id}": lambda query, message: query.identifier,
    "{>opcode}": lambda query, message: 0,
    "{/log/class}": lambda query, message: _class(message),
    "{/log/type}": lambda query, message: "NODATA" if _is_empty(message) else _code(message[3] & 15),
}


def _code(code: int) -> str:
    return wire.RCODES[code] if code < len(wire.RCODES) else f"RCODE{code}"


def _clean(text: str) -> str:
    """Return a name that cannot end a line of the log, or look like another."""
    return "".join(
        character if character.isprintable() and character not in '"\\' else f"\\{ord(character):03d}"
        for character in text
    )


def _is_empty(message: bytes) -> bool:
    return not message[3] & 15 and message[6:8] == b"\0\0"


def _class(message: bytes) -> str:
    code = message[3] & 15
    if code == wire.NXDOMAIN or _is_empty(message):
        return "denial"
    return "error" if code else "success"


@dataclass(frozen=True, slots=True)
class _Rule:
    zones: tuple[bytes, ...]
    format: str
    classes: frozenset[str]

    def write(self, query: Query, message: bytes) -> None:
        if "all" in self.classes or _class(message) in self.classes:
            log.info("%s", _PLACE.sub(lambda place: _value(place[0], query, message), self.format))


def _value(place: str, query: Query, message: bytes) -> str:
    value = _PLACES.get(place)
    return str(value(query, message)) if value is not None else "-" if place.startswith("{/") else place


def setup(controller: Controller) -> Wrap:
    """Set up what is written down: the first line whose names match counts."""
    rules = [_rule(controller, directive) for directive in controller.directives]

    def wrap(following: Handler) -> Handler:
        async def answer(query: Query) -> bytes:
            rule = next(
                (rule for rule in rules if any(wire.within(query.name, zone) for zone in rule.zones)), None
            )
            try:
                message = await following(query)
            except (OSError, TimeoutError, wire.Malformed):
                if rule is not None:
                    rule.write(query, b"\0\0\x80\x82" + bytes(8))
                raise
            if rule is not None:
                rule.write(query, message)
            return message

        return answer

    return wrap


def _rule(controller: Controller, directive: Directive) -> _Rule:
    arguments, format_ = list(directive.arguments), _COMMON
    if arguments and "{" in arguments[-1]:
        format_ = arguments.pop().replace("{common}", _COMMON).replace("{combined}", _COMBINED)
    zones = tuple(zone for text in arguments for zone in zones_of(text, directive.line)) or (b"\0",)
    classes: set[str] = set()
    for line in directive.inner:
        if line.words[0] != "class":
            raise line.problem(f"unknown property '{line.words[0]}'")
        if len(line.words) < 2:
            raise line.wrong_count()
        for word in line.words[1:]:
            if word not in _CLASSES:
                raise CorefileError(f"invalid Class: {word}")
            classes.add(word)
    return _Rule(zones, format_, frozenset(classes or {"all"}))


PLUGIN = Plugin(setup)
