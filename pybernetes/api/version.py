"""The document at /version."""

from __future__ import annotations

import os
import re
import sys
from functools import lru_cache

from pybernetes import KUBERNETES_VERSION
from pybernetes.lib.metrics.exposition import Exposition

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm", "i686": "386"}
_PARTS = r"[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*"
_BUILD = re.compile(rf"{re.escape(KUBERNETES_VERSION)}(-{_PARTS})?(\+{_PARTS})?")


def platform() -> str:
    """Return operating system and processor as Kubernetes names them: ``linux/amd64``."""
    machine = os.uname().machine
    return f"{sys.platform}/{_ARCHITECTURES.get(machine, machine)}"


_reported = KUBERNETES_VERSION


def reported() -> str:
    """Return the version that this program says it is."""
    return _reported


def report(text: str) -> None:
    """Say that this program is another build of its version; ValueError if that is none."""
    global _reported
    if text != KUBERNETES_VERSION and not _BUILD.fullmatch(text):
        raise ValueError(
            f'version "{text}" must match major/minor/patch of default version "{KUBERNETES_VERSION}"'
        )
    _reported = text
    document.cache_clear()


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
        "gitVersion": _reported,
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",  # built from source: there is no build
        "goVersion": f"python{python}",
        "compiler": sys.implementation.name,
        "platform": platform(),
    }


_BUILD_LABELS = (("build_date", "buildDate"), ("compiler", "compiler"), ("git_commit", "gitCommit"),
                 ("git_tree_state", "gitTreeState"), ("git_version", "gitVersion"), ("go_version", "goVersion"),
                 ("major", "major"), ("minor", "minor"), ("platform", "platform"))  # fmt: skip


def render(out: Exposition) -> None:
    """Write the metric that tells what a component was built from."""
    known, name = document(), "kubernetes_build_info"
    out.family(name, "gauge", "What this component was built from; the value is always 1.")
    out.sample(name, [(label, known[key]) for label, key in _BUILD_LABELS], 1)
