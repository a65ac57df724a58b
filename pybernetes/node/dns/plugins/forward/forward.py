"""forward FROM TO… { … }: asks other servers."""

from __future__ import annotations

import asyncio
import random

from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.http.dialer import Dialer, direct
from pybernetes.node.dns import config, wire
from pybernetes.node.dns.answer_cache import plain
from pybernetes.node.dns.corefile import CorefileError, Directive, Line
from pybernetes.node.dns.message import Message
from pybernetes.node.dns.metrics import Metrics
from pybernetes.node.dns.plugin import Controller, Plugin, Wrap, zones_of
from pybernetes.node.dns.plugins.forward.proxy import Proxy
from pybernetes.node.dns.plugins.forward.settings import OPTIONS, Settings
from pybernetes.node.dns.query import Handler, Query

_MOST_SERVERS = 15
_DEADLINE = 5.0
_AT_ONCE = 1000  # each question over UDP has a socket, and the process has other uses for its descriptors


class Forward:
    """Asks servers in turn until one answers."""

    def __init__(self, settings: Settings, metrics: Metrics, dialer: Dialer = direct) -> None:
        self._settings, self._metrics = settings, metrics
        self.proxies = [Proxy(server, tls, name, settings, dialer) for server, tls, name in settings.servers]
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
            message = (await off_loop.run(len(message), plain, message))[0]
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
        option = OPTIONS.get(line.words[0])
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
    forward = Forward(settings, controller.environment.metrics, controller.environment.dialer)
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


PLUGIN = Plugin(setup, passes_cluster_names=True)
