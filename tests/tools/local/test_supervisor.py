"""The supervisor: processes that die come back, and what should not run stops."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import until

SCRIPT = """
import json, sys
from pathlib import Path
from pybernetes.tools.local.processes import ProcessSpec
from pybernetes.tools.local.supervisor import Supervisor
folder = Path(sys.argv[1])
def desired():
    file = json.loads((folder / "wanted.json").read_text())
    return [ProcessSpec(name, tuple(command)) for name, command in file["programs"].items()], file["paused"]
Supervisor(desired, lambda name: folder / f"{name}.log", folder / "state.json").run()
"""


class Supervised:
    """A supervisor in a process of its own, told what to run by a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.want({"one": ["sh", "-c", "echo begun; exec sleep 600"]})
        self.process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder)])

    def want(self, programs: dict[str, list[str]], paused: bool = False) -> None:
        (self.folder / "wanted.json").write_text(json.dumps({"programs": programs, "paused": paused}))

    def state(self) -> dict[str, dict[str, int]]:
        path = self.folder / "state.json"
        return json.loads(path.read_text()) if path.exists() else {}

    def pid(self, name: str) -> int:
        return self.state().get(name, {}).get("pid", 0)


@pytest.fixture
def supervised(tmp_path: Path) -> Iterator[Supervised]:
    supervised = Supervised(tmp_path)
    try:
        yield supervised
    finally:
        supervised.process.kill()
        supervised.process.wait()


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_program_that_dies_is_started_again(supervised: Supervised) -> None:
    def begun() -> int:
        return (supervised.folder / "one.log").read_text().count("begun")

    first = until(lambda: supervised.pid("one"))
    until(lambda: begun() == 1)
    os.kill(first, signal.SIGKILL)
    until(lambda: supervised.pid("one") not in (0, first))
    assert supervised.state()["one"]["restarts"] == 1
    until(lambda: begun() == 2)


def test_settings_that_cannot_be_read_end_nothing(supervised: Supervised) -> None:
    first = until(lambda: supervised.pid("one"))
    (supervised.folder / "wanted.json").write_text(
        "{}"
    )  # as an older version sees what a newer one has written
    supervised.process.send_signal(signal.SIGHUP)
    os.kill(first, signal.SIGKILL)  # what dies is still started again
    second = until(lambda: (pid := supervised.pid("one")) != first and pid)
    supervised.want({"one": ["sleep", "600"], "two": ["sleep", "600"]})
    supervised.process.send_signal(signal.SIGHUP)
    until(lambda: supervised.pid("two"))
    assert supervised.pid("one") == second and alive(second)


def test_what_is_wanted_starts_and_what_is_not_stops(supervised: Supervised) -> None:
    first = until(lambda: supervised.pid("one"))
    supervised.want({"two": ["sleep", "600"]})
    supervised.process.send_signal(signal.SIGHUP)
    second = until(lambda: supervised.pid("two"))
    assert not alive(first) and "one" not in supervised.state()
    supervised.process.send_signal(signal.SIGTERM)
    assert supervised.process.wait(60) == 0
    assert not alive(second) and supervised.state() == {}


def test_a_program_that_cannot_start_says_so_in_its_log(supervised: Supervised) -> None:
    until(lambda: supervised.pid("one"))
    supervised.want({"none": ["/nowhere/program"]})
    supervised.process.send_signal(signal.SIGHUP)
    log = supervised.folder / "none.log"
    until(lambda: log.exists() and "No such file" in log.read_text())


def test_pausing_stops_programs_where_they_are(supervised: Supervised) -> None:
    pid = until(lambda: supervised.pid("one"))

    def letter() -> str:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]

    def pause(paused: bool, expected: str) -> None:
        supervised.want({"one": ["sh", "-c", "echo begun; exec sleep 600"]}, paused)
        supervised.process.send_signal(signal.SIGHUP)
        until(lambda: letter() == expected)

    pause(True, "T")
    pause(False, "S")


def test_programs_die_with_their_supervisor(supervised: Supervised) -> None:
    pid = until(lambda: supervised.pid("one"))
    supervised.process.kill()
    until(lambda: not alive(pid))
