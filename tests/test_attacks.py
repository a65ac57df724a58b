"""The program that attacks leaves nothing behind, also when it is told to end in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.attacks._target import Target
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


def test_a_server_that_does_not_end_is_killed_when_nobody_waits_for_it(tmp_path: Path) -> None:
    launcher = tmp_path / "pyb"
    launcher.write_text(
        "#!/bin/sh\ntrap '' TERM\necho it is serving on 127.0.0.1:1\nwhile :; do sleep 0.1; done\n"
    )
    launcher.chmod(0o755)

    def told_to_end(*_: object) -> None:
        raise SystemExit

    previous = signal.signal(signal.SIGALRM, told_to_end)
    try:
        with (
            pytest.raises(SystemExit),
            Target(launcher) as target,
            target.api_server(tmp_path / "data") as server,
        ):
            signal.setitimer(signal.ITIMER_REAL, 1.0)
        assert not Path(f"/proc/{server.pid}").exists()
    finally:
        signal.signal(signal.SIGALRM, previous)
