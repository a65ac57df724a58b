"""What every plugin of a Corefile is: something that reads its lines, and answers questions or hands them on."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pybernetes.api.text.durations import parse_duration
from pybernetes.lib.clock import Clock
from pybernetes.lib.http.dialer import Dialer, direct
from pybernetes.lib.http.messages import Request, Response
from pybernetes.node.dns import wire
from pybernetes.node.dns.corefile import Block, CorefileError, Directive, Line
from pybernetes.node.dns.metrics import Metrics
from pybernetes.node.dns.query import Handler, Query

if TYPE_CHECKING:
    from pybernetes.node.dns.cluster_names import ClusterNames, NameOptions

# Takes the next plugin's handler and gives its own.
Wrap: TypeAlias = Callable[[Handler], Handler]
Page: TypeAlias = Callable[[Request], Response]


@dataclass(frozen=True, slots=True)
class Plugin:
    """How a plugin is set up; each file of ``plugins/`` has one as PLUGIN."""

    setup: Callable[[Controller], Wrap | None]
    # Whether the cluster's own names may be answered without asking it, because it would change nothing.
    passes_cluster_names: bool = False


@dataclass(slots=True)
class Environment:
    """What a Corefile finds where it runs."""

    metrics: Metrics = field(default_factory=Metrics)
    clock: Clock = field(default_factory=Clock)
    # Gives the names of the cluster with such options; None where there is no cluster.
    cluster: Callable[[NameOptions], ClusterNames] | None = None
    # Where the addresses and the port of a block are really listened on.
    listen: Callable[[tuple[str, ...], int], tuple[tuple[str, ...], int]] = lambda hosts, port: (
        hosts or _every_address(),
        port,
    )
    # Where pages are really shown; an empty host is any.
    show: Callable[[str, int], list[tuple[str, int]]] = lambda host, port: [(host or "0.0.0.0", port)]
    variables: Mapping[str, str] = field(default_factory=lambda: os.environ)  # what {$NAME} stands for
    files: frozenset[str] | None = None  # which files may be read; None for any
    dialer: Dialer = direct  # how other servers are reached
    ranges: tuple[str, ...] = ()  # of the cluster: their reverse names are nobody else's business

    def read(self, path: str, line: Line) -> str:
        """Return the text of a file that the Corefile names."""
        if self.files is not None and path not in self.files:
            raise line.problem(f"{path} may not be read here; {', '.join(sorted(self.files))} may")
        try:
            with Path(path).open("rb") as file:
                return file.read(_MOST_FILE_BYTES).decode(errors="replace")
        except OSError as error:
            raise line.problem(f"open {path}: {(error.strerror or str(error)).lower()}") from None


_MOST_FILE_BYTES = 16 << 20


def _every_address() -> tuple[str, ...]:
    return ("0.0.0.0", "::") if Path("/proc/net/if_inet6").exists() else ("0.0.0.0",)


@dataclass(slots=True)
class Site:
    """What the plugins of one Corefile want beside their place in the chain."""

    environment: Environment
    pages: dict[tuple[str, int], dict[str, Page]] = field(default_factory=dict)
    unready: dict[str, Callable[[], bool]] = field(default_factory=dict)
    background: list[Callable[[], Coroutine[None, None, None]]] = field(default_factory=list)
    closing: list[Callable[[], Awaitable[None]]] = field(default_factory=list)
    reload_seconds: float = 0.0  # 0: changes are not followed
    lameduck_seconds: float = 0.0
    names: ClusterNames | None = None

    def show(self, host: str, port: int, path: str, page: Page) -> None:
        """Show a page at an address."""
        for place in self.environment.show("127.0.0.1" if host == "localhost" else host, port):
            self.pages.setdefault(place, {}).setdefault(path, page)


@dataclass(slots=True)
class Controller:
    """What a plugin sees while it is set up: its own lines of one block."""

    site: Site
    block: Block
    zones: tuple[bytes, ...]  # of the block
    directives: list[Directive]  # at least one
    hosts: tuple[str, ...] = ()  # where the block is answered
    port: int = 53
    chain: list[str] = field(default_factory=list)  # names of the block's plugins
    shared: dict[str, object] = field(default_factory=dict)  # what plugins of the block leave for each other

    @property
    def environment(self) -> Environment:
        """Where the Corefile runs."""
        return self.site.environment

    def once(self) -> Directive:
        """Return the directive of a plugin that a block may have once."""
        if len(self.directives) > 1:
            raise CorefileError("this plugin can only be used once per Server Block")
        return self.directives[0]

    def bare(self) -> None:
        """Refuse arguments."""
        directive = self.once()
        if directive.arguments:
            raise directive.line.wrong_count()
        for line in directive.inner:
            raise line.problem(f"unknown property '{line.words[0]}'")

    def zones_or_own(self, texts: Iterable[str], line: Line) -> tuple[bytes, ...]:
        """Return the zones of arguments, or the block's."""
        listed = tuple(zone for text in texts for zone in zones_of(text, line))
        return listed or self.zones


def address(directive: Directive, host: str, port: int) -> tuple[str, int]:
    """Return the address and port that a directive's one argument names, which it may leave out."""
    if len(directive.arguments) > 1:
        raise directive.line.wrong_count()
    if not directive.arguments:
        return host, port
    text = directive.arguments[0]
    host, colon, port_text = text.rpartition(":")
    if not colon:
        raise CorefileError(f"address {text}: missing port in address")
    if not (port_text.isascii() and port_text.isdigit() and int(port_text) < 65536):
        raise CorefileError(f"address {text}: invalid port")
    return host.strip("[]"), int(port_text)


def number(line: Line, text: str) -> int:
    """Return a whole number of a line."""
    try:
        return int(text)
    except ValueError:
        raise line.problem(f'strconv.Atoi: parsing "{text}": invalid syntax') from None


def seconds(line: Line, text: str) -> float:
    """Return a duration of a line."""
    try:
        return parse_duration(text)
    except ValueError:
        raise line.problem(f'time: invalid duration "{text}"') from None


def zones_of(text: str, line: Line) -> list[bytes]:
    """Return the zones that a text stands for: a name, or the reverse zones of a range."""
    if "/" in text:
        try:
            network = ipaddress.ip_network(text, strict=False)
        except ValueError:
            raise line.problem(f"unable to normalize '{text}'") from None
        step = 8 if network.version == 4 else 4
        prefix = min(network.max_prefixlen, -(-network.prefixlen // step) * step)
        whole = network.max_prefixlen // step
        result = []
        for subnet in network.subnets(new_prefix=prefix):
            labels = subnet.network_address.reverse_pointer.split(".")
            result.append(wire.name(".".join(labels[whole - prefix // step :])))
        return result
    try:
        return [wire.name(text.lower())]
    except ValueError:
        raise line.problem(f"unable to normalize '{text}'") from None


def zone_of(query: Query, zones: Iterable[bytes]) -> bytes | None:
    """Return the longest zone that a question's name is in."""
    name = query.name
    return max((zone for zone in zones if wire.within(name, zone)), key=len, default=None)


@dataclass(frozen=True, slots=True)
class Fallthrough:
    """Which names a plugin hands on if it knows nothing about them."""

    zones: tuple[bytes, ...] = ()

    @classmethod
    def of(cls, line: Line) -> Fallthrough:
        """Return it as a line says: without zones it is for all."""
        return cls(tuple(zone for text in line.words[1:] for zone in zones_of(text, line)) or (b"\0",))

    def through(self, name: bytes) -> bool:
        """Return whether a name is handed on."""
        return name.endswith(self.zones) and any(wire.within(name, zone) for zone in self.zones)
