"""What a node with real containers needs from the machine."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

_CNI_PLUGIN_FOLDERS = (Path("/usr/lib/cni"), Path("/opt/cni/bin"))


class RuntimeMissing(Exception):
    """A program that a node needs is not installed; the text names the command that installs it."""


def cni_plugins() -> Path | None:
    """Return the folder of the CNI plugins; None if they are not installed."""
    return next((folder for folder in _CNI_PLUGIN_FOLDERS if (folder / "bridge").exists()), None)


def check_programs() -> None:
    """Check the programs and permissions; RuntimeMissing names what is missing and how to install it."""
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
    if cni_plugins() is None:
        packages.add("containernetworking-plugins")
    if packages:
        raise RuntimeMissing(
            f"not installed: {', '.join(sorted(packages))}; apt-get install {' '.join(sorted(packages))}"
        )
    if os.geteuid() != 0:
        raise RuntimeMissing("a node with real containers needs root: use sudo")
