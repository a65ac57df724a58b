"""Starts and stops a private containerd, inside the network namespace of its node."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

from pybernetes.node.containerd import config, images
from pybernetes.node.containerd.config import PAUSE_IMAGE, ContainerdPaths
from pybernetes.node.containerd.requirements import check_programs, cni_plugins
from pybernetes.node.containerd.runtimes import RuntimeProgram

_START_SECONDS = 20.0
_STOP_SECONDS = 10.0


class Containerd:
    """One containerd. Containers outlive it: a new one with the same paths takes them over."""

    def __init__(self, paths: ContainerdPaths, *, network: str = "", registries: Path | None = None) -> None:
        self.paths = paths
        self.network = network  # the name of a network namespace, or empty for this process's own
        self.registries = registries
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it, wait until it answers, and import the sandbox image if it is missing."""
        check_programs()
        for folder in (self.paths.root, self.paths.state, self.paths.cni_configuration):
            folder.mkdir(parents=True, exist_ok=True, mode=0o711)
        configure(self.paths, self.registries)
        command = ["containerd", "--config", str(self.paths.config)]
        if self.network:
            # nsenter and not `ip netns exec`, which would hide the mounts of the cgroups.
            command = ["nsenter", f"--net=/run/netns/{self.network}", "--", *command]
        with self.paths.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *command, stdout=log, stderr=log, start_new_session=True
            )
        process = self.process
        try:
            await make_ready(self.paths, lambda: process.returncode is None)
        except RuntimeError as error:
            tail = self.paths.log.read_text(errors="replace")[-2000:]
            raise RuntimeError(f"{error}:\n{tail}") from None

    async def stop(self) -> None:
        """Stop the daemon; its containers go on."""
        if self.process is None or self.process.returncode is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await self.process.wait()
        except TimeoutError:
            self.process.kill()
            await self.process.wait()


def configure(
    paths: ContainerdPaths, registries: Path | None = None, programs: Sequence[RuntimeProgram] = ()
) -> None:
    """Write the configuration of a containerd, which may be started where its folders are."""
    paths.config.write_text(
        config.text(
            paths,
            cni_plugins=paths.plugins or cni_plugins() or Path("/usr/lib/cni"),
            systemd_cgroups=False,
            restrict_oom_score=not config.may_raise_oom_priority(Path("/proc/self/status").read_text()),
            registries=registries,
            runtimes=programs,
        )
    )


async def make_ready(paths: ContainerdPaths, is_running: Callable[[], bool] = lambda: True) -> None:
    """Wait until a containerd answers, and import the sandbox image if it is missing."""
    deadline = asyncio.get_running_loop().time() + _START_SECONDS
    while is_running() and asyncio.get_running_loop().time() < deadline:
        if paths.socket.exists():
            try:
                if PAUSE_IMAGE not in await images.names(paths.socket):
                    await images.load(paths.socket, images.pause_archive())
                return
            except images.ImageError:
                pass
        await asyncio.sleep(0.02)
    raise RuntimeError("containerd did not start")
