"""Our own programs in the background."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pybernetes.lib.processes import background_process
from pybernetes.lib.processes.background_process import running, stop
from pybernetes.tools.local.processes import pyb

__all__ = ["running", "start", "stop"]


def start(arguments: Sequence[str], pid_file: Path, log: Path) -> int:
    """Start one of our programs in the background; its output goes to the log."""
    return background_process.start(pyb(*arguments), pid_file, log)
