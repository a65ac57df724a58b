"""Somebody who uses local clusters, with a home of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path


class User:
    """Somebody with a home of their own."""

    def __init__(self, home: Path) -> None:
        self.environment = {**os.environ, "PYBERNETES_HOME": str(home / "state"), "HOME": str(home),
                            "KUBECONFIG": str(home / "kubeconfig")}  # fmt: skip

    def run(self, *command: str, code: int = 0) -> str:
        done = subprocess.run(command, env=self.environment, text=True, capture_output=True, timeout=120)
        assert done.returncode == code, f"{command}: {done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def pyb(self, *arguments: str, code: int = 0) -> str:
        return self.run(sys.executable, "-m", "pybernetes.cmd.main", *arguments, code=code)

    def kubectl(self, *arguments: str) -> str:
        return self.run("kubectl", *arguments)

    def until(self, wanted: str, *arguments: str) -> None:
        deadline = time.monotonic() + 60
        while wanted not in (seen := self.kubectl(*arguments)):
            assert time.monotonic() < deadline, f"{arguments} still prints {seen}"
            time.sleep(0.1)
