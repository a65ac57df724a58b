"""Processes in the background: started apart from the terminal, found again by a PID file, stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path


def _started(pid: int) -> str:
    """Return when a process started, which distinguishes it from a later one of the same number; empty if it is gone."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    fields = status.rpartition(")")[2].split()
    return "" if fields[0] in ("Z", "X") else fields[19]


def start(command: Sequence[str], pid_file: Path, log: Path) -> int:
    """Start a program in the background; its output goes to the log."""
    with open(os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            umask=0o077,
            preexec_fn=lambda: _prepare(pid_file),
        )
    return process.pid


def _prepare(pid_file: Path) -> None:
    """Write the PID file, in the new process before it becomes the program."""
    # A program that gets SIGHUP before it can handle it has not read the old settings yet: nothing is lost.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    # Here and not in the parent, which may be killed at any moment: a program that runs can always be found.
    temporary = pid_file.with_suffix(".new")
    temporary.write_text(f"{os.getpid()} {_started(os.getpid())}\n")
    os.replace(temporary, pid_file)


def running(pid_file: Path) -> int:
    """Return the process that a file names, if it is still the same one; 0 otherwise."""
    try:
        pid, _, started = pid_file.read_text().strip().partition(" ")
    except OSError:
        return 0
    return int(pid) if pid.isdigit() and started and _started(int(pid)) == started else 0


def stop(pid_file: Path, seconds: float = 20.0) -> bool:
    """Stop a background process and wait for its end; return False if it was not running."""
    pid = running(pid_file)
    if pid:
        os.kill(pid, signal.SIGTERM)
        if not _gone(pid_file, seconds):
            os.kill(pid, signal.SIGKILL)
            _gone(pid_file, 5.0)
    pid_file.unlink(missing_ok=True)
    return bool(pid)


def _gone(pid_file: Path, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not running(pid_file):
            return True
        time.sleep(0.02)
    return False
