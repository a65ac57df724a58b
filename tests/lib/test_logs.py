import io
import logging
import re
from collections.abc import Iterator

import pytest

from pybernetes.lib import logs


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def test_lines_look_like_those_of_klog() -> None:
    stream = io.StringIO()
    logs.set_up(0, stream)
    logging.getLogger("x").warning("took %d ms", 3)
    assert re.fullmatch(
        r"W\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ test_logs\.py:\d+\] took 3 ms\n", stream.getvalue()
    )


@pytest.mark.parametrize(("verbosity", "shown"), [(0, False), (2, False), (4, True), (10, True)])
def test_verbosity(verbosity: int, shown: bool) -> None:
    stream = io.StringIO()
    logs.set_up(verbosity, stream)
    logging.getLogger("x").debug("detail")
    logging.getLogger("asyncio").debug("never")
    assert ("detail" in stream.getvalue()) is shown
    assert "never" not in stream.getvalue()


def test_tracebacks_follow_the_line() -> None:
    stream = io.StringIO()
    logs.set_up(0, stream)
    try:
        raise ValueError("bad")
    except ValueError:
        logging.getLogger("x").exception("failed")
    assert stream.getvalue().startswith("E") and "ValueError: bad" in stream.getvalue()


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("a\nE0101 00:00:00.000000 1 x.py:1] forged", "a\n\tE0101 00:00:00.000000 1 x.py:1] forged"),
        ("a\rb", "a\\rb"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("\x9b31m", "\\x9b31m"),
        ("a\u202eb\u2028c", "a\\u202eb\\u2028c"),
        ("lone \ud800", "lone \\ud800"),
        ("tab\tand ünicode 日本語", "tab\tand ünicode 日本語"),
        ("nul\0", "nul\\x00"),
    ],
)
def test_what_others_sent_writes_no_lines_of_our_log(message: str, shown: str) -> None:
    stream = io.StringIO()
    logs.set_up(0, stream)
    logging.getLogger("x").warning("%s", message)
    assert stream.getvalue().partition("] ")[2] == shown + "\n"


def test_a_message_has_an_end() -> None:
    stream = io.StringIO()
    logs.set_up(0, stream)
    logging.getLogger("x").warning("begin %s end", "x" * 10_000_000)
    text = stream.getvalue()
    assert len(text) < 20_000 and "] begin xxx" in text and text.endswith("xxx end\n")


def test_tracebacks_are_indented() -> None:
    stream = io.StringIO()
    logs.set_up(0, stream)
    try:
        raise ValueError("bad\nI0101 00:00:00.000000 1 x.py:1] forged")
    except ValueError:
        logging.getLogger("x").exception("failed")
    assert all(line.startswith("\t") for line in stream.getvalue().splitlines()[1:])
