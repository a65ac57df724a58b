"""cache [TTL] [ZONES…] { … }: remembers answers; the cluster's own are never old and need no cache."""

from __future__ import annotations

from pybernetes.node.dns.answer_cache import DENIAL, SUCCESS, AnswerCache, Kind, Settings
from pybernetes.node.dns.corefile import CorefileError, Line
from pybernetes.node.dns.plugin import Controller, Plugin, Wrap, number, seconds, zone_of, zones_of
from pybernetes.node.dns.query import Handler, Query

_SERVFAIL_LIMIT = 300


def setup(controller: Controller) -> Wrap:
    """Set up the cache of a block."""
    directive = controller.once()
    settings = Settings()
    arguments = list(directive.arguments)
    if arguments and arguments[0].lstrip("-").isdigit():
        ttl = number(directive.line, arguments.pop(0))
        if ttl <= 0:
            raise CorefileError(f"cache TTL can not be zero or negative: {ttl}")
        settings.success.most_seconds = settings.denial.most_seconds = ttl
    zones = controller.zones_or_own(arguments, directive.line)
    for line in directive.inner:
        _option(settings, line)
    environment = controller.environment

    def wrap(following: Handler) -> Handler:
        cache = AnswerCache(settings, following, environment.metrics, environment.clock)
        controller.site.closing.append(cache.close)

        async def answer(query: Query) -> bytes:
            return await (cache.ask if zone_of(query, zones) is not None else following)(query)

        return cache.ask if zones == (b"\0",) else answer

    return wrap


def _option(settings: Settings, line: Line) -> None:
    name, *arguments = line.words
    if name in (SUCCESS, DENIAL):
        _kind(settings.success if name == SUCCESS else settings.denial, line, arguments)
    elif name == "prefetch":
        _prefetch(settings, line, arguments)
    elif name == "serve_stale":
        _stale(settings, line, arguments)
    elif name == "servfail":
        if len(arguments) != 1:
            raise line.wrong_count()
        settings.failure_seconds = seconds(line, arguments[0])
        if settings.failure_seconds < 0:
            raise CorefileError("invalid negative ttl for servfail")
        if settings.failure_seconds > _SERVFAIL_LIMIT:
            raise CorefileError("caching SERVFAIL responses over 5 minutes is not permitted")
    elif name == "disable":
        if not arguments or len(line.words) < 2:
            raise line.wrong_count()
        if arguments[0] not in (SUCCESS, DENIAL):
            raise CorefileError(f'cache type for disable must be "{SUCCESS}" or "{DENIAL}"')
        kind = settings.success if arguments[0] == SUCCESS else settings.denial
        kind.disabled = tuple(zone for text in arguments[1:] for zone in zones_of(text, line)) or (b"\0",)
    elif name == "keepttl":
        if arguments:
            raise line.wrong_count()
        settings.keep_ttl = True
    else:
        raise line.wrong_count()


def _kind(kind: Kind, line: Line, arguments: list[str]) -> None:
    if not 1 <= len(arguments) <= 3:
        raise line.wrong_count()
    capacity, *rest = (number(line, text) for text in arguments)
    kind.capacity = max(1024, capacity // 256 * 256)
    if rest:
        if rest[0] <= 0:
            raise CorefileError(f"cache TTL can not be zero or negative: {rest[0]}")
        kind.most_seconds = rest[0]
    if len(rest) > 1:
        if rest[1] < 0:
            raise CorefileError(f"cache min TTL can not be negative: {rest[1]}")
        kind.least_seconds = rest[1]


def _prefetch(settings: Settings, line: Line, arguments: list[str]) -> None:
    if not 1 <= len(arguments) <= 3:
        raise line.wrong_count()
    settings.prefetch = number(line, arguments[0])
    if settings.prefetch < 0:
        raise CorefileError(f"prefetch amount should be positive: {settings.prefetch}")
    if len(arguments) > 1:
        settings.prefetch_gap = seconds(line, arguments[1])
    if len(arguments) > 2:
        if not arguments[2].endswith("%"):
            raise CorefileError(f'last character of percentage should be `%`, but is: "{arguments[2][-1:]}"')
        settings.prefetch_percent = number(line, arguments[2][:-1])
        if not 10 <= settings.prefetch_percent <= 90:
            raise CorefileError(f"percentage should fall in range [10, 90]: {settings.prefetch_percent}")


def _stale(settings: Settings, line: Line, arguments: list[str]) -> None:
    if len(arguments) > 2:
        raise line.wrong_count()
    settings.stale_seconds = seconds(line, arguments[0]) if arguments else 3600.0
    if settings.stale_seconds < 0:
        raise CorefileError("invalid negative duration for serve_stale")
    if len(arguments) > 1:
        mode = arguments[1].lower()
        if mode not in ("immediate", "verify"):
            raise CorefileError(f"invalid value for serve_stale refresh mode: {mode}")
        settings.verify = mode == "verify"


PLUGIN = Plugin(setup, passes_cluster_names=True)
