"""What the lines of one ``forward`` say."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass, field

from pybernetes.node.dns import config, wire
from pybernetes.node.dns.corefile import CorefileError, Line
from pybernetes.node.dns.plugin import number, seconds, zones_of

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


OPTIONS: dict[str, Callable[[Settings, Line], None]] = {
    "except": _except, "force_tcp": _flag("force_tcp"), "prefer_udp": _flag("prefer_udp"), "expire": _seconds("expire"),
    "read_timeout": _seconds("read_timeout"), "max_fails": _count("max_fails"), "policy": _policy,
    "max_connect_attempts": _count("max_connect_attempts"), "health_check": _health_check,
    "max_concurrent": _count("max_concurrent"), "next": _next, "failover": _failover,
    "next_on_nodata": _flag("next_on_nodata"), "failfast_all_unhealthy_upstreams": _flag("failfast"), "tls": _tls,
    "tls_servername": _server_name, "source_address": _source,
}  # fmt: skip
