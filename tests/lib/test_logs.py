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
