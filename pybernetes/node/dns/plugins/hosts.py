"""hosts [FILE [ZONES…]] { … }: names from a file like /etc/hosts, and from lines of the Corefile."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterable
from dataclasses import dataclass, field

from pybernetes.node.dns import wire
from pybernetes.node.dns.corefile import CorefileError, Line
from pybernetes.node.dns.lookup import address_of
from pybernetes.node.dns.message import Message
from pybernetes.node.dns.plugin import Controller, Fallthrough, Plugin, Wrap, seconds, zone_of
from pybernetes.node.dns.query import Handler, Query
from pybernetes.node.dns.records import address_data
from pybernetes.node.dns.wire import Record


@dataclass(slots=True)
class Hosts:
    """Names and addresses: by name and type, and by the reverse name of addresses."""

    by_question: dict[tuple[bytes, int], list[bytes]] = field(default_factory=dict)
    names: set[bytes] = field(default_factory=set)
    reverse: dict[str, list[bytes]] = field(default_factory=dict)
    count: int = 0

    @classmethod
    def read(cls, lines: Iterable[str], zones: tuple[bytes, ...], has_reverse: bool) -> Hosts:
        """Return what lines say; those that are no hosts are left out, as CoreDNS does."""
        result = cls()
        for line in lines:
            words = line.split("#", 1)[0].split()
            try:
                address = str(ipaddress.ip_address(words[0].partition("%")[0])) if len(words) > 1 else ""
            except ValueError:
                continue
            for text in words[1:]:
                try:
                    name = wire.name(text)
                except ValueError:
                    continue
                if not any(wire.within(name, zone) for zone in zones):
                    continue
                kind, data = address_data(address)
                result.by_question.setdefault((name, kind), []).append(data)
                result.names.add(name)
                result.count += 1
                if has_reverse and not name.startswith(b"\x01*"):
                    result.reverse.setdefault(address, []).append(name)
                    result.count += 1
        return result

    def key(self, name: bytes) -> bytes | None:
        """Return the name, or the wildcard, that answers for a name."""
        if name in self.names:
            return name
        wild = b"\x01*" + name[1 + name[0] :] if name[0] else b""
        return wild if wild in self.names else None


class _File:
    """The file, read again when it changes."""

    def __init__(
        self, controller: Controller, path: str, zones: tuple[bytes, ...], has_reverse: bool
    ) -> None:
        self._path, self._zones, self._has_reverse = path, zones, has_reverse
        self._environment = controller.environment
        self._line = controller.directives[0].line
        self._seen: tuple[int, int] | None = None
        self.hosts = Hosts()

    def refresh(self) -> None:
        try:
            status = os.stat(self._path)
            seen = (status.st_mtime_ns, status.st_size)
            if seen == self._seen:
                return
            text = self._environment.read(self._path, self._line)
        except (OSError, CorefileError):
            return  # what was read before stays
        self._seen = seen
        self.hosts = Hosts.read(text.splitlines(), self._zones, self._has_reverse)
        self._environment.metrics.set("coredns_hosts_reload_timestamp_seconds", status.st_mtime)


@dataclass(slots=True)
class _Options:
    ttl: int = 3600
    reload: float = 5.0
    reverse: bool = True
    fallthrough: Fallthrough = field(default_factory=Fallthrough)
    unsupported: bool = False
    inline: list[str] = field(default_factory=list)


def setup(controller: Controller) -> Wrap:
    """Set up the names of a block."""
    directive = controller.once()
    environment = controller.environment
    path = directive.arguments[0] if directive.arguments else "/etc/hosts"
    if environment.files is not None and path not in environment.files:
        environment.read(path, directive.line)  # says that it may not be read
    zones = controller.zones_or_own(directive.arguments[1:], directive.line)
    options = _read(directive.inner)
    if options.unsupported and not options.fallthrough.zones:
        raise directive.line.problem("fallthrough_unsupported requires fallthrough")
    file = _File(controller, path, zones, options.reverse)
    file.refresh()
    inline = Hosts.read(options.inline, zones, options.reverse)
    environment.metrics.set("coredns_hosts_entries", file.hosts.count + inline.count)
    if options.reload:

        async def follow() -> None:
            while True:
                await environment.clock.sleep(options.reload)
                file.refresh()
                environment.metrics.set("coredns_hosts_entries", file.hosts.count + inline.count)

        controller.site.background.append(follow)

    def wrap(following: Handler) -> Handler:
        async def answer(query: Query) -> bytes:
            known = _answer(query, (file.hosts, inline), zones, options)
            return await following(query) if known is None else known

        return answer

    return wrap


def _answer(
    query: Query, sources: tuple[Hosts, ...], zones: tuple[bytes, ...], options: _Options
) -> bytes | None:
    """Return the answer to a question, or None to hand it on; OSError stands for SERVFAIL."""
    name, kind = query.name, query.type
    if kind == wire.PTR:
        address = address_of(name)
        names = [name for hosts in sources for name in hosts.reverse.get(str(address), ())]
        if not names:
            return None
        return _message(query, wire.PTR, names, options.ttl)
    if zone_of(query, zones) is None or query.class_ != 1:
        return None
    keys = [(hosts, key) for hosts in sources if (key := hosts.key(name)) is not None]
    if kind not in (wire.A, wire.AAAA) and options.unsupported and options.fallthrough.through(name):
        return None
    if not keys:
        if options.fallthrough.through(name):
            return None
        return Message(query.question, code=wire.SERVFAIL).encode()
    data = [value for hosts, key in keys for value in hosts.by_question.get((key, kind), ())]
    return _message(query, kind, data, options.ttl)


def _message(query: Query, kind: int, data: list[bytes], ttl: int) -> bytes:
    records = [Record(query.name, kind, 1, ttl, value) for value in dict.fromkeys(data)]
    return Message(query.question, answers=records, authoritative=True).encode()


def _read(lines: list[Line]) -> _Options:
    options = _Options()
    for line in lines:
        name, *arguments = line.words
        if name == "fallthrough":
            options.fallthrough = Fallthrough.of(line)
        elif name == "fallthrough_unsupported":
            if arguments:
                raise line.wrong_count()
            options.unsupported = True
        elif name == "no_reverse":
            options.reverse = False
        elif name == "ttl":
            options.ttl = _ttl(line, arguments)
        elif name == "reload":
            if len(arguments) != 1:
                raise line.problem("reload needs a duration (zero seconds to disable)")
            try:
                options.reload = seconds(line, arguments[0])
            except CorefileError:
                raise line.problem(f"invalid duration for reload '{arguments[0]}'") from None
            if options.reload < 0:
                raise line.problem(f"invalid negative duration for reload '{arguments[0]}'")
        elif not options.fallthrough.zones:
            options.inline.append(" ".join(line.words))
        else:
            raise line.problem(f"unknown property '{name}'")
    return options


def _ttl(line: Line, arguments: list[str]) -> int:
    if not arguments:
        raise line.problem("ttl needs a time in second")
    try:
        ttl = int(arguments[0])
    except ValueError:
        raise line.problem("ttl needs a number of second") from None
    if not 0 < ttl <= 65535:
        raise line.problem("ttl provided is invalid")
    return ttl


PLUGIN = Plugin(setup)
