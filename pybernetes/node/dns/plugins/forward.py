"""forward FROM TO… { … }: asks other servers."""

from __future__ import annotations

import asyncio
import functools
import logging
import random
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field

from pybernetes.node.dns import config, wire
from pybernetes.node.dns.answer_cache import plain
from pybernetes.node.dns.corefile import CorefileError, Directive, Line
from pybernetes.node.dns.message import Message
from pybernetes.node.dns.metrics import Metrics
from pybernetes.node.dns.plugin import Controller, Plugin, Wrap, number, seconds, zones_of
from pybernetes.node.dns.query import Handler, Query
from pybernetes.node.dns.upstream import Stream, exchange

log = logging.getLogger(__name__)
_MOST_SERVERS = 15
_DEADLINE = 5.0
_AT_ONCE = 1000  # each question over UDP has a socket, and the process has other uses for its descriptors
_HEALTH = b"\0" + wire.NS.to_bytes(2) + wire.IN


@dataclass(slots=True)
class Settings:
    """What the lines of one ``forward`` say."""

    zone: bytes = b"\0"
    servers: list[tuple[config.Server, bool, str]] = field(
        default_factory=list
    )  # TLS, and the name to verify
    excepted: list[bytes] = field(default_factory=list)
    force_tcp: bool = False
    prefer_udp: bool = False
    expire: float = 10.0
    read_timeout: float = 2.0
    max_fails: int = 2
    max_connect_attempts: int | None = None
    policy: str = "random"
    health_seconds: float = 0.5
    health_question: bytes = _HEALTH
    max_concurrent: int = 0
    next_codes: set[int] = field(default_factory=set)
    failover: set[int] = field(default_factory=set)
    next_on_nodata: bool = False
    failfast: bool = False
    source: str = ""
    tls: ssl.SSLContext | None = None
    server_name: str = ""


@functools.cache
def _verifying() -> ssl.SSLContext:
    """Return what verifies servers by the machine's authorities; reading these takes a while."""
    return ssl.create_default_context()


class Proxy:
    """One server to ask: how, and whether it is well."""

    def __init__(self, server: config.Server, tls: bool, server_name: str, settings: Settings) -> None:
        self.server, self._settings = server, settings
        self.label = f"[{server[0]}]:{server[1]}" if ":" in server[0] else f"{server[0]}:{server[1]}"
        context = (settings.tls or _verifying()) if tls else None
        self._tls = tls
        self._stream = Stream(
            server, context, server_name or settings.server_name, settings.expire, settings.source
        )
        self.fails = 0
        self._checking: asyncio.Task[None] | None = None

    @property
    def is_down(self) -> bool:
        """Whether so many checks have failed that others are asked first."""
        return bool(self._settings.max_fails) and self.fails >= self._settings.max_fails

    async def ask(self, question: bytes, tcp: bool) -> bytes:
        """Return the server's answer."""
        if self._tls or self._settings.force_tcp or (tcp and not self._settings.prefer_udp):
            return await self._stream.exchange(question)
        message = await exchange(question, self.server, self._settings.source)
        if message[2] & 2:  # cut: the whole of it comes over TCP
            message = await self._stream.exchange(question)
        return message

    def check(self, metrics: Metrics) -> None:
        """Look after a server that failed until it is well again; a look costs nobody's question."""
        if self._settings.max_fails and self._checking is None:
            self._checking = asyncio.create_task(self._check(metrics))

    async def _check(self, metrics: Metrics) -> None:
        try:
            while True:
                try:
                    async with asyncio.timeout(max(1.0, self._settings.health_seconds)):
                        await self.ask(self._settings.health_question, False)
                    self.fails = 0
                    return
                except (OSError, TimeoutError, wire.Malformed):
                    self.fails += 1
                    metrics.count("coredns_proxy_healthcheck_failures_total", (("proxy_name", "forward"), ("to", self.label)))  # fmt: skip
                await asyncio.sleep(self._settings.health_seconds)
        finally:
            self._checking = None

    async def close(self) -> None:
        """End connections and checks."""
        if self._checking is not None:
            self._checking.cancel()
        await self._stream.close()


class Forward:
    """Asks servers in turn until one answers."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._settings, self._metrics = settings, metrics
        self.proxies = [Proxy(server, tls, name, settings) for server, tls, name in settings.servers]
        self._turn = 0
        self._under_way = 0

    def matches(self, name: bytes) -> bool:
        """Return whether a name is to be asked about here."""
        return wire.within(name, self._settings.zone) and not any(
            wire.within(name, zone) for zone in self._settings.excepted
        )

    def _order(self) -> list[Proxy]:
        proxies = self.proxies
        if self._settings.policy == "random":
            proxies = random.sample(proxies, len(proxies))
        elif self._settings.policy == "round_robin":
            self._turn = (self._turn + 1) % len(proxies)
            proxies = proxies[self._turn :] + proxies[: self._turn]
        well = [proxy for proxy in proxies if not proxy.is_down]
        if well:
            return well
        self._metrics.count("coredns_forward_healthcheck_broken_total")
        return [] if self._settings.failfast else [random.choice(proxies)]

    async def ask(self, query: Query) -> bytes:
        """Return the answer of the first server that has one; OSError or TimeoutError if none has."""
        settings = self._settings
        if settings.max_concurrent and self._under_way >= settings.max_concurrent:
            self._metrics.count("coredns_forward_max_concurrent_rejects_total")
            return Message(query.question, code=wire.REFUSED).encode()
        if not settings.max_concurrent and self._under_way >= _AT_ONCE:
            raise OSError("too many questions are on their way already")
        self._under_way += 1
        try:
            async with asyncio.timeout(_DEADLINE):
                return await self._ask(query)
        finally:
            self._under_way -= 1

    async def _ask(self, query: Query) -> bytes:
        settings = self._settings
        proxies = self._order()
        if not proxies:
            raise OSError("no healthy proxies")
        attempts = settings.max_connect_attempts
        attempts = 2 * len(self.proxies) if attempts is None else attempts or 1 << 30
        message, problem = b"", OSError("no healthy proxies")
        for attempt in range(min(attempts, 2 * len(proxies))):
            proxy = proxies[attempt % len(proxies)]
            label = proxy.label
            self._metrics.forwarded[label] = self._metrics.forwarded.get(label, 0) + 1
            try:
                async with asyncio.timeout(settings.read_timeout):
                    message = await proxy.ask(query.question, query.tcp)
            except (OSError, TimeoutError) as error:
                cause = str(error) or "i/o timeout"
                problem = OSError(f"{'tcp' if settings.force_tcp else 'udp'} {label}: {cause}")
                failures = self._metrics.forward_failures
                failures[label] = failures.get(label, 0) + 1
                proxy.check(self._metrics)
                continue
            message = plain(message)[0]
            if message[3] & 15 in settings.failover and attempt + 1 < len(proxies):
                continue
            return message
        if not message:
            raise problem
        return message

    def wants_next(self, message: bytes) -> bool:
        """Return whether another ``forward`` is to be asked after this answer."""
        settings = self._settings
        if message[3] & 15 in settings.next_codes:
            return True
        return settings.next_on_nodata and not message[3] & 15 and message[6:8] == b"\0\0"

    async def close(self) -> None:
        """End all connections."""
        for proxy in self.proxies:
            await proxy.close()


def setup(controller: Controller) -> Wrap:
    """Set up all ``forward`` lines of a block: the first that a name matches is asked."""
    forwards = [_forward(controller, directive) for directive in controller.directives]

    def wrap(following: Handler) -> Handler:
        async def forward(query: Query) -> bytes:
            message = b""
            for one in forwards:
                if one.matches(query.name):
                    message = await one.ask(query)
                    if not one.wants_next(message):
                        return message
            return message or await following(query)

        return forward

    return wrap


def _forward(controller: Controller, directive: Directive) -> Forward:
    settings = Settings()
    arguments = directive.arguments
    if len(arguments) < 2:
        raise directive.line.wrong_count()
    settings.zone = zones_of(arguments[0], directive.line)[0]
    for line in directive.inner:
        option = _OPTIONS.get(line.words[0])
        if option is None:
            raise line.problem(f"unknown property '{line.words[0]}'")
        if line.words[0] == "tls":
            for path in line.words[1:]:
                controller.environment.read(path, line)
        option(settings, line)
    for text in arguments[1:]:
        settings.servers += _servers(controller, directive.line, text)
    if not settings.servers:
        raise directive.line.wrong_count()
    if len(settings.servers) > _MOST_SERVERS:
        raise CorefileError(f"more than {_MOST_SERVERS} TOs configured: {len(settings.servers)}")
    forward = Forward(settings, controller.environment.metrics)
    controller.site.closing.append(forward.close)
    return forward


def _servers(controller: Controller, line: Line, text: str) -> list[tuple[config.Server, bool, str]]:
    if text.startswith("/"):
        return [(server, False, "") for server in config.of_text(controller.environment.read(text, line))]
    transport, separator, rest = text.rpartition("://")
    if separator and transport not in ("dns", "tls"):
        raise CorefileError(f"'{transport}' is not supported as a destination protocol in forward: {text}")
    host, _, name = rest.partition("%")
    if name and ":" in name:
        name, _, port = name.rpartition(":")
        host += f":{port}"
    try:
        server = config.server(host, 853 if transport == "tls" else 53)
    except ValueError:
        raise CorefileError(f"not an IP address or file: {text!r}") from None
    return [(server, transport == "tls", name)]


def _one(line: Line) -> str:
    if len(line.words) != 2:
        raise line.wrong_count()
    return line.words[1]


def _codes(line: Line) -> set[int]:
    if len(line.words) < 2:
        raise line.wrong_count()
    codes = set()
    for word in line.words[1:]:
        if word.upper() not in wire.RCODES:
            raise CorefileError(f"{word} is not a valid rcode")
        codes.add(wire.RCODES.index(word.upper()))
    return codes


def _except(settings: Settings, line: Line) -> None:
    if len(line.words) < 2:
        raise line.wrong_count()
    settings.excepted += [zone for text in line.words[1:] for zone in zones_of(text, line)]


def _flag(name: str) -> Callable[[Settings, Line], None]:
    def take(settings: Settings, line: Line) -> None:
        if len(line.words) != 1:
            raise line.wrong_count()
        setattr(settings, name, True)

    return take


def _count(name: str) -> Callable[[Settings, Line], None]:
    def take(settings: Settings, line: Line) -> None:
        value = number(line, _one(line))
        if value < 0:
            raise CorefileError(f"{name} can't be negative: {value}")
        setattr(settings, name, value)

    return take


def _seconds(name: str) -> Callable[[Settings, Line], None]:
    def take(settings: Settings, line: Line) -> None:
        value = seconds(line, _one(line))
        if value < 0 or (name == "read_timeout" and not value):
            raise CorefileError(
                f"read_timeout must be positive: {line.words[1]}"
                if name == "read_timeout"
                else f"{name} can't be negative: {line.words[1]}"
            )
        setattr(settings, name, value)

    return take


def _policy(settings: Settings, line: Line) -> None:
    policy = _one(line)
    if policy not in ("random", "round_robin", "sequential"):
        raise line.problem(f"unknown policy '{policy}'")
    settings.policy = policy


def _health_check(settings: Settings, line: Line) -> None:
    if len(line.words) < 2:
        raise line.wrong_count()
    settings.health_seconds = seconds(line, line.words[1])
    if settings.health_seconds <= 0:
        raise CorefileError(f"health_check can't be negative: {line.words[1]}")
    rest = list(line.words[2:])
    while rest:
        option = rest.pop(0)
        if option == "domain" and rest:
            settings.health_question = zones_of(rest.pop(0), line)[0] + _HEALTH[1:]
        elif option != "no_rec":
            raise CorefileError(f"health_check: unknown option {option}")
        else:
            raise CorefileError("health_check: no_rec is not built in here")


def _next(settings: Settings, line: Line) -> None:
    settings.next_codes |= _codes(line)


def _failover(settings: Settings, line: Line) -> None:
    codes = _codes(line)
    if wire.NOERROR in codes:
        raise CorefileError("NoError cannot be used in failover")
    settings.failover |= codes


def _tls(settings: Settings, line: Line) -> None:
    files = line.words[1:]
    if len(files) > 3:
        raise line.wrong_count()
    try:
        authority = files[-1] if len(files) in (1, 3) else None
        settings.tls = ssl.create_default_context(cafile=authority)
        settings.tls.minimum_version = ssl.TLSVersion.TLSv1_2
        if len(files) > 1:
            settings.tls.load_cert_chain(files[0], files[1])
    except (OSError, ssl.SSLError) as error:
        raise line.problem(f"tls: {error}") from None


def _server_name(settings: Settings, line: Line) -> None:
    settings.server_name = _one(line)


def _source(settings: Settings, line: Line) -> None:
    try:
        settings.source = config.server(_one(line))[0]
    except ValueError:
        raise line.problem(f"invalid IP address: {line.words[1]}") from None


_OPTIONS: dict[str, Callable[[Settings, Line], None]] = {
    "except": _except, "force_tcp": _flag("force_tcp"), "prefer_udp": _flag("prefer_udp"), "expire": _seconds("expire"),
    "read_timeout": _seconds("read_timeout"), "max_fails": _count("max_fails"), "policy": _policy,
    "max_connect_attempts": _count("max_connect_attempts"), "health_check": _health_check,
    "max_concurrent": _count("max_concurrent"), "next": _next, "failover": _failover,
    "next_on_nodata": _flag("next_on_nodata"), "failfast_all_unhealthy_upstreams": _flag("failfast"), "tls": _tls,
    "tls_servername": _server_name, "source_address": _source,
}  # fmt: skip
PLUGIN = Plugin(setup, passes_cluster_names=True)
