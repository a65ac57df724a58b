"""The process of the proxy: started with nothing but its first configuration, and started again when it ends."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path

from pybernetes.control_plane.gateway.envoy.messages import MissingProxy
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


async def run(folder: Path, socket: Path, clock: Clock, *, threads: int = 1) -> None:
    """Run Envoy until cancelled. It gets no environment, and its folder is closed to others."""
    path = folder / "envoy.json"
    path.write_text(json.dumps(bootstrap(socket, folder / "admin.sock")))
    words = (
        str(program()), "--config-path", str(path), "--concurrency", str(threads), "--disable-hot-restart",
        "--log-level", "warning", "--log-format", "%v",
    )  # fmt: skip
    while True:
        process = await asyncio.create_subprocess_exec(*words, env={}, stdin=asyncio.subprocess.DEVNULL)
        try:
            status = await process.wait()
        finally:
            if process.returncode is None:
                await _end(process)
        log.error("Envoy ended with status %s and is started again", status)
        await clock.sleep(_AGAIN_SECONDS)


async def _end(process: asyncio.subprocess.Process) -> None:
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), _END_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()
