"""The process of the proxy: started with nothing but its first configuration, and started again when it ends."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
from pathlib import Path

from pybernetes.control_plane.gateway.envoy.api_pool import MissingProxy
from pybernetes.control_plane.gateway.xds.bootstrap import bootstrap
from pybernetes.lib.clock import Clock

log = logging.getLogger(__name__)
_AGAIN_SECONDS, _END_SECONDS = 1.0, 10.0


def program() -> Path:
    """Return Envoy's program, which a package holds."""
    try:
        import envoy
    except ImportError:
        raise MissingProxy("Envoy is not installed: pip install 'pybernetes[gateway]'") from None
    for folder in envoy.__path__:
        path = Path(folder, "_bin", "envoy")
        if path.is_file():
            return path
    raise MissingProxy("Envoy is not installed: pip install 'pybernetes[gateway]'")


async def run(socket: Path, clock: Clock, *, threads: int = 1, user: int = 0) -> None:
    """Run Envoy until cancelled, without an environment, as a user that may be another one than ours."""
    # By its descriptor: the other user may have no way to the file.
    opened = os.open(program(), os.O_RDONLY | os.O_CLOEXEC)
    try:
        await _keep(opened, socket, clock, threads, user)
    finally:
        os.close(opened)


async def _keep(opened: int, socket: Path, clock: Clock, threads: int, user: int) -> None:
    words = (
        *_prefix(user), f"/proc/self/fd/{opened}", "--config-yaml", json.dumps(bootstrap(socket)), "--concurrency", str(threads), "--disable-hot-restart",
        "--log-level", "warning", "--log-format", "%v",
    )  # fmt: skip
    while True:
        process = await asyncio.create_subprocess_exec(
            *words, env={}, stdin=asyncio.subprocess.DEVNULL, pass_fds=(opened,), cwd="/"
        )  # fmt: skip
        try:
            status = await process.wait()
        finally:
            if process.returncode is None:
                await _end(process)
        log.error("Envoy ended with status %s and is started again", status)
        await clock.sleep(_AGAIN_SECONDS)


def _prefix(user: int) -> list[str]:
    """Return what makes a process the user's, and end with this one: an Envoy of its own would go on with old routes."""
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise MissingProxy("the program setpriv is missing: apt-get install util-linux")
    drop = [f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
    return [setpriv, *drop, "--no-new-privs", "--pdeathsig=KILL", "--"]


async def _end(process: asyncio.subprocess.Process) -> None:
    process.terminate()
    try:
        async with asyncio.timeout(_END_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
