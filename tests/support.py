"""Helpers that tests import: what a test needs from the machine, and how it runs asynchronous code."""

import asyncio
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, NoReturn, TypeVar, overload

import pytest

Result = TypeVar("Result")
# The variable that names the folder of what tests of all processes of a run share; it goes when the run is over.
SHARED = "PYBERNETES_TESTS_SHARED"

# How long is waited for what is to come soon. Only what fails waits that long: others may use the machine, too.
DEADLINE = 120.0

PACKAGES = {
    "cc": "gcc",
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
        missing(f"the program {name} (Debian package {PACKAGES.get(name, name)})")
    return path


def require_root() -> None:
    """Skip the test when it does not run as root, or fail it in CI."""
    if os.geteuid() != 0:
        missing("root")


def image_stores() -> Path:
    """Return where images of ourselves are kept for all tests of a run that need them."""
    return Path(os.environ[SHARED]) / "image-stores"


def run(coroutine: Coroutine[Any, Any, Result], timeout: float = 3 * DEADLINE) -> Result:
    """Run a coroutine to its end on a fresh event loop; one that hangs fails the test."""
    return asyncio.run(_bounded(coroutine, timeout))


async def _bounded(coroutine: Coroutine[Any, Any, Result], timeout: float) -> Result:
    async with asyncio.timeout(timeout):
        return await coroutine


def until(
    condition: Callable[[], Result | None],
    seconds: float = DEADLINE,
    *,
    not_yet: tuple[type[Exception], ...] = (),
    story: Callable[[], str] | None = None,
) -> Result:
    """Ask again and again until a condition of other processes or threads holds, and return its value.

    An error of `not_yet` means that it does not hold yet. What `story` tells, such as a log, is shown with a failure.
    What happens on an event loop of the test is awaited with `eventually` instead.
    """
    deadline = time.monotonic() + seconds
    while True:
        last: object
        try:
            if value := condition():
                return value
            last = value
        except not_yet as error:
            last = error
        if time.monotonic() >= deadline:
            raise AssertionError(_in_vain(condition, seconds, last, story))
        time.sleep(0.02)


@overload
async def eventually(
    condition: Callable[[], Coroutine[Any, Any, Result | None]],
    seconds: float = DEADLINE,
    *,
    not_yet: tuple[type[Exception], ...] = (),
) -> Result: ...
@overload
async def eventually(
    condition: Callable[[], Result | None],
    seconds: float = DEADLINE,
    *,
    not_yet: tuple[type[Exception], ...] = (),
) -> Result: ...
async def eventually(
    condition: Callable[[], Any], seconds: float = DEADLINE, *, not_yet: tuple[type[Exception], ...] = ()
) -> Any:
    """Let the event loop turn until a condition, which may be asynchronous, holds, and return its value.

    An error of `not_yet` means that it does not hold yet.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while True:
        try:
            value = condition()
            if asyncio.iscoroutine(value):
                value = await value
            if value:
                return value
        except not_yet as error:
            value = error
        if loop.time() >= deadline:
            raise AssertionError(_in_vain(condition, seconds, value))
        await asyncio.sleep(0.002)


def hold_the_loop(seconds: float) -> None:
    """Keep the processor busy: what is slow, or in the way of everything else on an event loop."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(100))


def block_the_loop(seconds: float) -> None:
    """Stand in the way of an event loop without using the processor, as a system call that waits does."""
    time.sleep(seconds)


def end(process: subprocess.Popen[Any], seconds: float = DEADLINE) -> int:
    """End a process as an init system does: ask it to, and kill it when it does not; return its exit code."""
    process.terminate()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    finally:
        if process.stdout is not None:
            process.stdout.close()
    return process.returncode


def _in_vain(
    condition: Callable[[], object], seconds: float, last: object, story: Callable[[], str] | None = None
) -> str:
    """Return what a test that waited in vain says: for what, and what it got instead."""
    code = getattr(condition, "__code__", None)
    what = f"the condition at {code.co_filename}:{code.co_firstlineno}" if code else repr(condition)
    told = f"\n{story()}" if story else ""
    return f"{what} does not hold after {seconds:g} s: it is {last!r}{told}"


def missing(what: str) -> NoReturn:
    """Skip the test that needs something which is not there, or fail it in CI."""
    if os.environ.get("CI", "").lower() in ("1", "true", "yes"):
        pytest.fail(f"this test needs {what}", pytrace=False)
    pytest.skip(f"needs {what}")
