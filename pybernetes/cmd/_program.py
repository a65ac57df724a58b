"""How a program runs: on a fast event loop, until SIGINT or SIGTERM, with errors told in one line."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import resource
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from pybernetes import KUBERNETES_VERSION
from pybernetes.api import version


class Server(Protocol):
    """What serves between its start and its end."""

    async def start(self) -> None: ...

    async def stop(self) -> None: ...


def add_version(parser: argparse.ArgumentParser) -> None:
    """Add the flag that makes a component say which version of Kubernetes it is."""
    parser.add_argument(
        "--version", nargs="?", const="true", action=_Version, metavar="true|VERSION",
        help="print the version and exit; or, with vX.Y.Z and more, the version to report",
    )  # fmt: skip


class _Version(argparse.Action):
    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option: str | None = None,
    ) -> None:
        if values.startswith("v"):
            try:
                version.report(values)
            except ValueError as error:
                parser.error(f'invalid argument "{values}" for "--version" flag: {error}')
        elif values not in ("true", "false"):
            parser.error(f'invalid argument "{values}" for "--version" flag')
        if values == "true":
            print(f"Kubernetes {KUBERNETES_VERSION}")
            parser.exit()


def run(name: str, work: Coroutine[Any, Any, int], *errors: type[Exception]) -> int:
    """Run a program on uvloop and return its exit code; OSError, ValueError and the given errors become a message."""
    import uvloop

    _raise_descriptor_limit()
    expected: tuple[type[Exception], ...] = (OSError, ValueError, *errors)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(work)
    except expected as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1


def _raise_descriptor_limit() -> None:
    """Open as many files as the system lets us, as Go's programs do: a thousand connections are soon there."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):  # where it is said to be without limit, there is one
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def stop_event() -> asyncio.Event:
    """Return an event that SIGINT and SIGTERM set."""
    stop = asyncio.Event()
    _on_signal(stop.set)
    return stop


async def serve(server: Server, ready: Callable[[], str]) -> int:
    """Serve until SIGINT or SIGTERM; print what is to be said once the server is ready."""
    from pybernetes.lib.memory import gc_tuning

    stop = stop_event()
    await server.start()
    gc_tuning.tune()
    print(ready(), flush=True)
    await stop.wait()
    await server.stop()
    return 0


async def until_signal(work: Coroutine[Any, Any, Any]) -> None:
    """Await work that SIGINT and SIGTERM cancel, which is its normal end."""
    task = asyncio.ensure_future(work)
    _on_signal(task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task


def _on_signal(handler: Callable[[], object]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, handler)
