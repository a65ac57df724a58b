"""A process that confined itself reaches nothing but what it named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pybernetes.lib.processes import landlock

SCRIPT = """
import os, subprocess, sys, threading
from pathlib import Path
from pybernetes.lib.processes import landlock
folder = Path(sys.argv[1])
assert landlock.restrict([Path("/usr"), Path("/lib"), *map(Path, filter(None, sys.path))], [folder / "own"])
def tried(work):
    try:
        work()
        return "yes"
    except OSError as error:
        return type(error).__name__
def attempts():
    own, other = folder / "own", folder / "other"
    (own / "old").write_text("x")
    return [
        tried(lambda: os.rename(own / "old", own / "new")),
        tried(lambda: (other / "secret").read_text()),
        tried(lambda: (other / "new").write_text("")),
        tried(lambda: os.listdir(folder)),
        tried(lambda: os.link(other / "secret", own / "stolen")),
        tried(lambda: os.mkfifo(other / "fifo")),
        tried(lambda: subprocess.run(["/bin/true"])),
        tried(lambda: Path("/etc/passwd").read_text()),
    ]
print(*attempts())
thread = threading.Thread(target=lambda: print(*attempts()))
thread.start()
thread.join()
"""


def test_only_what_was_named_is_reached(tmp_path: Path) -> None:
    if not landlock.version():
        assert (
            landlock.restrict([], []) is False
        )  # a kernel without it says so, and there is nothing more to see
        return
    for name in ("own", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "other" / "secret").write_text("secret")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    denied = "PermissionError"
    for line in done.stdout.splitlines():
        words = line.split()
        assert words[0] == "yes" and set(words[1:]) <= {denied, "OSError"} and words.count(denied) >= 6, line
    assert len(done.stdout.splitlines()) == 2


def test_a_kernel_without_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 0)
    assert landlock.restrict([], []) is False
