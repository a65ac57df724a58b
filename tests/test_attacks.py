"""The program that attacks leaves nothing behind, also when it is told to end in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.support import until

_LAUNCHER = '#!/bin/sh\necho "$*" >> "$CALLS"\n[ "$1" != up ] || exec sleep 600\n'
_SECONDS = 60


def test_what_was_started_goes_when_it_is_told_to_end(tmp_path: Path) -> None:
    launcher, calls = tmp_path / "pyb", tmp_path / "calls"
    launcher.write_text(_LAUNCHER)
    launcher.chmod(0o755)
    command = [
        sys.executable,
        "-m",
        "tests.attacks",
        str(launcher),
        "--only",
        "2 a sub-path",
        "--cluster",
        "mine",
    ]
    environment = os.environ | {"CALLS": str(calls), "TMPDIR": str(tmp_path)}
    attacking = subprocess.Popen(command, env=environment, cwd=Path(__file__).parents[1])
    until(lambda: calls.exists() and "up mine" in calls.read_text())
    attacking.send_signal(signal.SIGTERM)
    attacking.send_signal(signal.SIGTERM)
    assert attacking.wait(_SECONDS) == 128 + signal.SIGTERM
    assert calls.read_text().splitlines() == ["up mine --wait", "delete mine"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["calls", "pyb"]
