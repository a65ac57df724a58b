"""Somebody who uses local clusters, with a home of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support import until


class User:
    """Somebody with a home of their own."""

    patience = 300  # seconds that a command may take; a slow machine, or one that others use, needs them

    def __init__(self, home: Path) -> None:
        self.environment = {**os.environ, "PYBERNETES_HOME": str(home / "state"), "HOME": str(home),
                            "KUBECONFIG": str(home / "kubeconfig")}  # fmt: skip

    def run(self, *command: str, code: int = 0) -> str:
        """Return what a command prints; it must end with the exit code."""
        done = subprocess.run(
            command, env=self.environment, text=True, capture_output=True, timeout=self.patience
        )
        assert done.returncode == code, f"{command}: {done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def pyb(self, *arguments: str, code: int = 0) -> str:
        """Return what pyb prints."""
        return self.run(sys.executable, "-m", "pybernetes.cmd.main", *arguments, code=code)

    def kubectl(self, *arguments: str) -> str:
        """Return what kubectl prints."""
        return self.run("kubectl", *arguments)

    def until(self, text: str, *arguments: str) -> None:
        """Wait until kubectl prints a text."""
        until(lambda: text in self.kubectl(*arguments))
