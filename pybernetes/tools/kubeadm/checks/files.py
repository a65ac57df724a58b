"""Checks of files, folders and programs."""

from __future__ import annotations

import shutil
from pathlib import Path

from pybernetes.tools.kubeadm.checks.check import Findings, problem


def _label(path: Path | str) -> str:
    return str(path).replace("/", "-")


class FileAvailable:
    """A file that must not be there yet."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.name = f"FileAvailable-{_label(path)}"

    async def check(self) -> Findings:
        """Complain if the file exists."""
        return problem(f"{self.path} already exists") if self.path.exists() else Findings()


class FileExisting:
    """A file that must be there."""

    def __init__(self, path: Path | str, name: str = "") -> None:
        self.path = Path(path)
        self.name = name or f"FileExisting-{_label(path)}"

    async def check(self) -> Findings:
        """Complain if the file is missing."""
        return Findings() if self.path.exists() else problem(f"{self.path} doesn't exist")


class DirAvailable:
    """A folder that must be empty or missing."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.name = f"DirAvailable-{_label(path)}"

    async def check(self) -> Findings:
        """Complain if something is in the folder."""
        try:
            entries = next(iter(self.path.iterdir()), None)
        except FileNotFoundError:
            return Findings()
        except OSError as error:
            return problem(f"unable to check if {self.path} is empty: {error.strerror}")
        return problem(f"{self.path} is not empty") if entries is not None else Findings()


class InPath:
    """A program that is needed, or that some parts would like to have."""

    def __init__(self, program: str, mandatory: bool) -> None:
        self.program, self.mandatory = program, mandatory
        self.name = f"FileExisting-{program}"

    async def check(self) -> Findings:
        """Complain if the program is not on the path."""
        if shutil.which(self.program) or shutil.which(self.program, path="/usr/sbin:/sbin:/usr/local/sbin"):
            return Findings()
        text = f"{self.program} not found in system path"
        return problem(text) if self.mandatory else Findings(warnings=[text])


class IpForward:
    """Whether the kernel forwards packets, as pods need it."""

    _FILES = {4: "/proc/sys/net/ipv4/ip_forward", 6: "/proc/sys/net/ipv6/conf/default/forwarding"}

    def __init__(self, family: int) -> None:
        self.path = Path(self._FILES[family])
        self.name = f"FileContent-{_label(self.path)}"

    async def check(self) -> Findings:
        """Complain if forwarding is off."""
        try:
            content = self.path.read_text()
        except OSError:
            return problem(f"{self.path} does not exist")
        return Findings() if content.strip() == "1" else problem(f"{self.path} contents are not set to 1")
