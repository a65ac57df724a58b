"""The supervisor: programs that die come back, what is not wanted stops, logs turn over."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pybernetes.tools.local.supervisor import RotatedLog

SCRIPT = """
import json, sys
from pathlib import Path
from pybernetes.tools.local.processes import ProcessSpec
from pybernetes.tools.local.supervisor import Supervisor
folder = Path(sys.argv[1])
def wanted():
    said = json.loads((folder / "wanted.json").read_text())
    return [ProcessSpec(name, tuple(command)) for name, command in said["programs"].items()], said["paused"]
Supervisor(wanted, lambda name: folder / f"{name}.log", folder / "state.json").run()
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

    def until(self, condition: Callable[[], Any]) -> Any:
        deadline = time.monotonic() + 60
        while not (value := condition()):
            assert time.monotonic() < deadline, self.state()
            time.sleep(0.01)
        return value


@pytest.fixture
def supervised(tmp_path: Path) -> Iterator[Supervised]:
    made = Supervised(tmp_path)
    try:
        yield made
    finally:
        made.process.kill()
        made.process.wait()


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_program_that_dies_is_started_again(supervised: Supervised) -> None:
    def begun() -> int:
        return (supervised.folder / "one.log").read_text().count("begun")

    first = supervised.until(lambda: supervised.pid("one"))
    supervised.until(lambda: begun() == 1)
    os.kill(first, signal.SIGKILL)
    supervised.until(lambda: supervised.pid("one") not in (0, first))
    assert supervised.state()["one"]["restarts"] == 1
    supervised.until(lambda: begun() == 2)


def test_what_is_wanted_starts_and_what_is_not_stops(supervised: Supervised) -> None:
    first = supervised.until(lambda: supervised.pid("one"))
    supervised.want({"two": ["sleep", "600"]})
    supervised.process.send_signal(signal.SIGHUP)
    second = supervised.until(lambda: supervised.pid("two"))
    assert not alive(first) and "one" not in supervised.state()
    supervised.process.send_signal(signal.SIGTERM)
    assert supervised.process.wait(60) == 0
    assert not alive(second) and supervised.state() == {}


def test_a_program_that_cannot_start_says_so_in_its_log(supervised: Supervised) -> None:
    supervised.until(lambda: supervised.pid("one"))
    supervised.want({"none": ["/nowhere/program"]})
    supervised.process.send_signal(signal.SIGHUP)
    log = supervised.folder / "none.log"
    supervised.until(lambda: log.exists() and "No such file" in log.read_text())


def test_pausing_stops_programs_where_they_are(supervised: Supervised) -> None:
    pid = supervised.until(lambda: supervised.pid("one"))

    def letter() -> str:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]

    def pause(paused: bool, expected: str) -> None:
        supervised.want({"one": ["sh", "-c", "echo begun; exec sleep 600"]}, paused)
        supervised.process.send_signal(signal.SIGHUP)
        supervised.until(lambda: letter() == expected)

    pause(True, "T")
    pause(False, "S")


def test_programs_die_with_their_supervisor(supervised: Supervised) -> None:
    pid = supervised.until(lambda: supervised.pid("one"))
    supervised.process.kill()
    supervised.until(lambda: not alive(pid))


def test_logs_turn_over(tmp_path: Path) -> None:
    log = RotatedLog(tmp_path / "a.log", limit=10, files=3)
    for line in (b"11111111", b"22222222", b"33333333", b"44444444"):
        log.write(line)
    log.close()
    names = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert names == {"a.log": "44444444", "a.log.1": "33333333", "a.log.2": "22222222"}
    again = RotatedLog(tmp_path / "a.log", limit=10, files=3)
    again.write(b"555")
    again.close()
    assert (tmp_path / "a.log").read_text() == "555"
