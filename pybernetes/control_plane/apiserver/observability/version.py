"""The document at /version."""

from __future__ import annotations

import os
import sys
from functools import lru_cache

from pybernetes import KUBERNETES_VERSION

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm", "i686": "386"}


def platform() -> str:
    """Return operating system and processor as Kubernetes names them: ``linux/amd64``."""
    machine = os.uname().machine
    return f"{sys.platform}/{_ARCHITECTURES.get(machine, machine)}"


@lru_cache(maxsize=1)
def document() -> dict[str, str]:
    """Return upstream's version document, filled with what is true of this server.

    Clients require every key to be there, none needs ``goVersion`` to name a Go: it names the language.
    """
    major, minor = KUBERNETES_VERSION.removeprefix("v").split(".")[:2]
    python = ".".join(str(part) for part in sys.version_info[:3])
    return {
        "major": major,
        "minor": minor,
        "emulationMajor": major,
        "emulationMinor": minor,
        "minCompatibilityMajor": major,
        "minCompatibilityMinor": str(int(minor) - 1),
        "gitVersion": KUBERNETES_VERSION,
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",  # built from source: there is no build
        "goVersion": f"python{python}",
        "compiler": sys.implementation.name,
        "platform": platform(),
    }
