"""kubefedctl version: prints the version."""

from __future__ import annotations

import argparse
import platform

from pybernetes import KUBERNETES_VERSION, __version__
from pybernetes.tools.federation.session import Session

SUMMARY = "Print the version info"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes: nothing."""


async def run(session: Session) -> None:
    """Print the version."""
    session.say(
        f"kubefedctl version: pybernetes {__version__}, Kubernetes {KUBERNETES_VERSION}, {platform.system().lower()}/{platform.machine()}"
    )
