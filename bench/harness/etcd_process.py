"""An etcd of one member on loopback, which is killed and started again with the same data."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
from pathlib import Path

_READY = b"ready to serve client requests"
_SECONDS = 60.0


class EtcdProcess:
    """One member, with every write synced as it is by default."""

    def __init__(self, directory: Path) -> None:
        program = shutil.which("etcd")
        if program is None:
            raise SystemExit("pyb bench faults: etcd is not installed (Debian package etcd-server)")
        self._program, self._directory = program, directory
        directory.mkdir(parents=True)
        with socket.socket() as client, socket.socket() as peer:
            for listening in (client, peer):
                listening.bind(("127.0.0.1", 0))
            self.address = f"http://127.0.0.1:{client.getsockname()[1]}"
            self._peer = f"http://127.0.0.1:{peer.getsockname()[1]}"
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        """Start it and wait until it serves."""
        log = self._directory / "log"
        with log.open("wb") as file:
            self._process = process = subprocess.Popen(
                [self._program, "--name=one", f"--data-dir={self._directory / 'data'}",
                 f"--listen-client-urls={self.address}", f"--advertise-client-urls={self.address}",
                 f"--listen-peer-urls={self._peer}", f"--initial-advertise-peer-urls={self._peer}",
                 f"--initial-cluster=one={self._peer}", "--heartbeat-interval=50", "--election-timeout=500"],
                stdout=file, stderr=file, env={"PATH": os.environ["PATH"]},
            )  # fmt: skip
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _SECONDS
        while _READY not in log.read_bytes():
            assert process.poll() is None and loop.time() < deadline, log.read_text()[-1000:]
            await asyncio.sleep(0.02)

    def kill(self) -> None:
        """End it at once, as a crash does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
