"""Checks of the machine itself."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import threading
from pathlib import Path

from pybernetes.api.validation import names
from pybernetes.tools.kubeadm import runtime
from pybernetes.tools.kubeadm.checks.check import Findings, problem
from pybernetes.tools.kubeadm.errors import KubeadmError

_CPUS, _MEGABYTES = 2, 1700
_LOOKUP_SECONDS = 1.0


class IsPrivilegedUser:
    """Whether this is root."""

    name = "IsPrivilegedUser"

    async def check(self) -> Findings:
        """Complain if it is not."""
        return Findings() if os.geteuid() == 0 else problem("user is not running as root")


class NumCPU:
    """Whether there are processors enough for a control plane."""

    name = "NumCPU"

    async def check(self) -> Findings:
        """Complain of too few."""
        count = os.cpu_count() or 1
        if count >= _CPUS:
            return Findings()
        return problem(f"the number of available CPUs {count} is less than the required {_CPUS}")


class Mem:
    """Whether there is memory enough for a control plane."""

    name = "Mem"

    async def check(self) -> Findings:
        """Complain of too little."""
        megabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
        if megabytes >= _MEGABYTES:
            return Findings()
        return problem(f"the system RAM ({megabytes} MB) is less than the minimum {_MEGABYTES} MB")


class Hostname:
    """Whether the node's name can be looked up."""

    name = "Hostname"

    def __init__(self, node: str) -> None:
        self.node = node

    async def check(self) -> Findings:
        """Warn if it cannot, or is no name."""
        findings = Findings(
            warnings=[
                f'invalid node name format "{self.node}": {text}' for text in names.qualified_name(self.node)
            ]
        )
        problem = await _lookup(self.node)
        if problem:
            findings.warnings.append(f'hostname "{self.node}" could not be reached')
            findings.warnings.append(f'hostname "{self.node}": {problem}')
        return findings


async def _lookup(name: str) -> str:
    """Return why a name cannot be looked up; a name server that does not answer is not waited for."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[str] = loop.create_future()

    def settle(text: str) -> None:
        if not answer.done():
            answer.set_result(text)

    def ask() -> None:
        try:
            socket.getaddrinfo(name, None)
            text = ""
        except OSError as error:
            text = error.strerror or str(error)
        with contextlib.suppress(RuntimeError):  # nobody waits any more
            loop.call_soon_threadsafe(settle, text)

    threading.Thread(target=ask, daemon=True).start()
    try:
        async with asyncio.timeout(_LOOKUP_SECONDS):
            return await answer
    except TimeoutError:
        return "no name server answers"


class Swap:
    """Whether swap is off."""

    name = "Swap"

    async def check(self) -> Findings:
        """Warn if it is on."""
        try:
            lines = Path("/proc/swaps").read_text().splitlines()
        except OSError:
            return Findings()
        if len(lines) > 1:
            return Findings(
                warnings=[
                    "swap is supported for cgroup v2 only. The kubelet must be properly configured to use swap. Please refer to "
                    "https://kubernetes.io/docs/concepts/architecture/nodes/#swap-memory, or disable swap on the node"
                ]
            )
        return Findings()


class SystemVerification:
    """Whether the kernel has what containers need."""

    name = "SystemVerification"
    _CONTROLLERS = ("cpu", "cpuset", "memory", "pids")
    _FILESYSTEMS = ("overlay", "proc")

    async def check(self) -> Findings:
        """Complain of what is missing, and warn of the first version of control groups."""
        findings = Findings()
        try:
            present = {line.split()[0] for line in Path("/proc/cgroups").read_text().splitlines()[1:]}
        except OSError:
            present = set()
        unified = Path("/sys/fs/cgroup/cgroup.controllers")
        if unified.exists():
            present |= set(unified.read_text().split())
        else:
            findings.warnings.append("cgroups v1 support is deprecated; please migrate to cgroups v2")
        missing = [name for name in self._CONTROLLERS if name not in present]
        if missing:
            findings.errors.append(f"missing required cgroups: {' '.join(missing)}")
        known = Path("/proc/filesystems").read_text().split()
        findings.errors += [
            f"missing required filesystem: {name}" for name in self._FILESYSTEMS if name not in known
        ]
        return findings


class ContainerRuntime:
    """Whether the container runtime answers."""

    name = "CRI"

    def __init__(self, socket_address: str) -> None:
        self.socket = socket_address

    async def check(self) -> Findings:
        """Complain if it does not."""
        try:
            await runtime.check(self.socket)
        except KubeadmError as error:
            return problem(f"could not connect to the container runtime: {error}")
        return Findings()
