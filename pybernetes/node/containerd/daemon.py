"""Starts and stops a private containerd, inside the network namespace of its node."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

from pybernetes.node.containerd import config, images
from pybernetes.node.containerd.config import PAUSE_IMAGE, ContainerdPaths

_START_SECONDS = 20.0
_STOP_SECONDS = 10.0
_CNI_PLUGINS = (Path("/usr/lib/cni"), Path("/opt/cni/bin"))


class RuntimeMissing(Exception):
    """A program that a node needs is not installed; the text names the command that installs it."""


class Containerd:
    """One containerd. Containers outlive it: a new one with the same places takes them over."""

    def __init__(self, places: ContainerdPaths, *, network: str = "", registries: Path | None = None) -> None:
        self.places = places
        self.network = network  # the name of a network namespace, or empty for this process's own
        self.registries = registries
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Starts it and waits until it answers; brings the sandbox image in if it is not there."""
        check_programs()
        configure(self.places, self.registries)
        command = ["containerd", "--config", str(self.places.config)]
        if self.network:
            # nsenter and not `ip netns exec`, which would hide the mounts of the cgroups.
            command = ["nsenter", f"--net=/run/netns/{self.network}", "--", *command]
        with self.places.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *command, stdout=log, stderr=log, start_new_session=True
            )
        process = self.process
        try:
            await make_ready(self.places, lambda: process.returncode is None)
        except RuntimeError as error:
            tail = self.places.log.read_text(errors="replace")[-2000:]
            raise RuntimeError(f"{error}:\n{tail}") from None

    async def stop(self) -> None:
        """Stops the daemon; its containers go on."""
        if self.process is None or self.process.returncode is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(self.process.wait(), _STOP_SECONDS)
        except TimeoutError:
            self.process.kill()
            await self.process.wait()


def configure(places: ContainerdPaths, registries: Path | None = None) -> None:
    """Writes the configuration of a containerd that may be started then."""
    for folder in (places.root, places.state, places.cni_configuration):
        folder.mkdir(parents=True, exist_ok=True, mode=0o711)
    plugins = next((folder for folder in _CNI_PLUGINS if (folder / "bridge").exists()), _CNI_PLUGINS[0])
    places.config.write_text(
        config.text(
            places,
            cni_plugins=plugins,
            systemd_cgroups=False,
            restrict_oom_score=not config.may_raise_oom_priority(Path("/proc/self/status").read_text()),
            registries=registries,
        )
    )


async def make_ready(places: ContainerdPaths, lives: Callable[[], bool] = lambda: True) -> None:
    """Waits until a containerd answers, and brings the sandbox image in if it is not there."""
    deadline = asyncio.get_running_loop().time() + _START_SECONDS
    while lives() and asyncio.get_running_loop().time() < deadline:
        if places.socket.exists():
            try:
                if PAUSE_IMAGE not in await images.names(places.socket):
                    await images.load(places.socket, images.pause_archive())
                return
            except images.ImageError:
                pass
        await asyncio.sleep(0.02)
    raise RuntimeError("containerd did not start")


def check_programs() -> None:
    """Names what is missing and how to install it."""
    needed = {
        "containerd": "containerd",
        "ctr": "containerd",
        "runc": "runc",
        "catatonit": "catatonit",
        "nsenter": "util-linux",
        "ip": "iproute2",
        "iptables": "iptables",
    }
    packages = {package for program, package in needed.items() if shutil.which(program) is None}
    if not any((folder / "bridge").exists() for folder in _CNI_PLUGINS):
        packages.add("containernetworking-plugins")
    if packages:
        raise RuntimeMissing(
            f"not installed: {', '.join(sorted(packages))}; apt-get install {' '.join(sorted(packages))}"
        )
    if os.geteuid() != 0:
        raise RuntimeMissing("a node with real containers needs root: use sudo")
