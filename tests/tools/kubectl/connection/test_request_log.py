"""-v: what is printed of requests, and what is never printed."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest

from pybernetes.tools.kubectl import log
from pybernetes.tools.kubectl.connection import request_log

HEADERS = [("User-Agent", "kubectl"), ("Authorization", "Bearer secret"), ("Accept", "a")]


@pytest.fixture
def told() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    log.set_level(0, stream)
    yield stream
    log.set_level(0)


def everything() -> None:
    request_log.body("Request", b"")
    request_log.request("GET", "https://x/a?b=c", HEADERS)
    request_log.answer(
        "GET", "https://x/a?b=c", "200 OK", [("Content-Type", "j")], 0.0121, (0.0011, 0.0021, 0.003)
    )
    request_log.body("Response", b"x" * 2000)


@pytest.mark.parametrize(
    ("level", "there", "absent"),
    [
        (5, "", "GET"),
        (6, '"Response" verb="GET" url="https://x/a?b=c" status="200 OK" milliseconds=12\n', "Request"),
        (7, '"Request" verb="GET" url="https://x/a?b=c" headers=<\n\tAccept: a\n\tAuthorization: Bearer <masked>\n\tUser-Agent: kubectl\n >\n', "Body"),
        (8, '"Response" status="200 OK" headers=<\n\tContent-Type: j\n > milliseconds=12\n', "curl"),
        (8, "xxx [truncated 976 chars]", "curl"),
        (9, "\tcurl -v -XGET  -H \"User-Agent: kubectl\" -H \"Authorization: Bearer <masked>\" -H \"Accept: a\" 'https://x/a?b=c'\n >", "verb=\"GET\" url=\"https://x/a?b=c\" headers=<\n\tAccept"),
        (9, "dnsLookupMilliseconds=1 dialMilliseconds=2 tlsHandshakeMilliseconds=3 serverProcessingMilliseconds=5\n", "getConn"),
        (10, "x" * 2000, "truncated"),
    ],
)  # fmt: skip
def test_levels(told: io.StringIO, level: int, there: str, absent: str) -> None:
    log.set_level(level, told)
    everything()
    text = told.getvalue()
    assert there in text and absent not in text and "secret" not in text


@pytest.mark.parametrize(
    ("line", "level"),
    [("get", 0), ("get -v=6", 6), ("get -v 7", 7), ("get --v=8 x", 8), ("get -v9", 9), ("exec x -- -v=6", 0)],
)
def test_the_level_is_known_before_flags_are_parsed(line: str, level: int) -> None:
    assert log.asked(line.split()) == level


def test_a_request_without_an_answer(told: io.StringIO) -> None:
    arguments = ("GET", "https://x:1/a", "dial tcp x:1: connect: connection refused", "x:1", 0.0)
    log.set_level(6, told)
    request_log.failed(*arguments)
    assert told.getvalue().endswith('"Response" verb="GET" url="https://x:1/a" status="" milliseconds=0\n')
    log.set_level(9, told)
    request_log.failed(*arguments)
    assert '"HTTP Trace: Dial failed" network="tcp" address="x:1" err="dial tcp x:1' in told.getvalue()
    steps = "dnsLookupMilliseconds=0 dialMilliseconds=0 tlsHandshakeMilliseconds=0\n"
    assert told.getvalue().endswith(f'status="" headers="" milliseconds=0 {steps}')
