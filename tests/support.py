"""Helpers that tests import: what a test needs from the machine, and how it runs asynchronous code."""

import asyncio
import os
import shutil
import time
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn, TypeVar

import pytest

Result = TypeVar("Result")

PACKAGES = {
    "etcd": "etcd-server",
    "etcdctl": "etcd-client",
    "kubectl": "kubernetes-client",
    "busybox": "busybox-static",
    "ip": "iproute2",
}


def require_program(name: str) -> str:
    """Return the path of a program; without it the test is skipped, or fails in CI."""
    path = shutil.which(name)
    if path is None:
        _missing(f"the program {name} (Debian package {PACKAGES.get(name, name)})")
    return path


def require_root() -> None:
    """Skip the test when it does not run as root, or fail it in CI."""
    if os.geteuid() != 0:
        _missing("root")


def run(coroutine: Coroutine[Any, Any, Result], timeout: float = 180) -> Result:
    """Run a coroutine to its end on a fresh event loop; one that hangs fails the test."""
    return asyncio.run(_bounded(coroutine, timeout))


async def _bounded(coroutine: Coroutine[Any, Any, Result], timeout: float) -> Result:
    async with asyncio.timeout(timeout):
        return await coroutine


def wait_until(condition: Callable[[], Result], seconds: float = 60.0) -> Result:
    """Ask again and again until a condition of other processes holds, and return its value.

    What happens on an event loop of the test is awaited with `tests.cluster.eventually` instead.
    """
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{condition} does not hold after {seconds:.0f} s"
        time.sleep(0.02)
    return value


def _missing(what: str) -> NoReturn:
    if os.environ.get("CI", "").lower() in ("1", "true", "yes"):
        pytest.fail(f"this test needs {what}", pytrace=False)
    pytest.skip(f"needs {what}")
