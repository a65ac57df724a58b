"""Runs `async def` tests on a fresh event loop each and slow files first, and offers the helpers of tests.support."""

import gc
import inspect
import logging
import os
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from pybernetes.lib.files import trees
from tests.support import SHARED, require_program, require_root, run

__all__ = ["require_program", "require_root", "run"]
pytest.register_assert_rewrite("tests.api.tables")


def pytest_configure(config: pytest.Config) -> None:
    """Make a folder for what tests of all processes share, because it takes long to make."""
    if SHARED not in os.environ:
        os.environ[SHARED] = tempfile.mkdtemp(prefix="pybernetes-tests-")
        config.add_cleanup(lambda: trees.remove_path(os.environ.pop(SHARED)))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> bool | None:
    """Call an asynchronous test function through `run`."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    run(pyfuncitem.obj(**arguments))
    return True


@pytest.fixture(autouse=True)
def _own_logging() -> Iterator[None]:
    """Take away the handlers that a program under test set up: they write to streams that end with the test."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files with slow tests first in a run on several processes, then those with many: the last ones are short.

    Processes take whole files. Files of one test that starts a cluster would come last by their number of tests.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        slow = {item.path for item in items if item.get_closest_marker("slow")}
        count = Counter(item.path for item in items)
        items.sort(key=lambda item: (item.path not in slow, -count[item.path]))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Have Python's collector leave out the modules and the tests themselves: they stay, and are nearly a million objects."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


# A loaded machine makes hypothesis slow, which is no fault of the code under test. Developers' runs try new examples
# every time; continuous integration always the same, so that it judges the change and nothing else.
settings.register_profile(
    "pybernetes",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("pybernetes")
