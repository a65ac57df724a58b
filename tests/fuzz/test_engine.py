"""The fuzzer finds what is wrong with targets that are wrong on purpose, and does the same again from the same seed."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fuzz import command
from fuzz.engine import judge as judging
from fuzz.engine.campaign import Campaign
from fuzz.engine.corpus import save
from fuzz.engine.judge import judge
from fuzz.engine.target import Target
from tests.support import until


def crashes(data: bytes) -> None:
    """Fail on one word."""
    if b"bad" in data:
        raise KeyError(data)


def burns(data: bytes) -> None:
    """Take time by the square of the input."""
    end = time.process_time() + 1e-6 * len(data) ** 2
    while time.process_time() < end:
        pass


def hoards(data: bytes) -> None:
    """Take a lot of memory."""
    assert len(bytearray(300 << 20)) > 0


def hangs(data: bytes) -> None:
    """Never come to an end."""
    while data:
        try:
            len(data)
        except Exception:  # as careless code does
            pass


def test_an_exception_is_found_and_its_input_made_small() -> None:
    campaign = Campaign("none", Target(crashes, seeds=(b"something good and long",), words=(b"bad",)), 1)
    campaign.run(500)
    assert [data for _, data in campaign.failures] == [b"bad"]
    assert campaign.failures[0][0].kind == "KeyError in test_engine.py:crashes"


def test_what_a_target_refuses_with_is_no_failure() -> None:
    assert judge(Target(crashes, (KeyError,)), b"bad") is None
    assert judge(Target(crashes), b"good") is None


def test_time_that_grows_too_fast_is_found() -> None:
    target = Target(burns, seconds=0.01, per_byte=20e-6)
    assert judge(target, b"x" * 10) is None
    failure = judge(target, b"x" * 400)
    assert failure is not None and failure.kind == "slow"


def test_what_never_ends_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "HANG_SECONDS", 0.2)
    failure = judge(Target(hangs), b"x")
    assert failure is not None and failure.kind == "hang"


def test_memory_is_found() -> None:
    # In a process of its own: what counts is the most that a process ever had.
    code = (
        "from fuzz.engine.judge import judge; from fuzz.engine.target import Target; from tests.fuzz.test_engine import hoards;"
        "print(judge(Target(hoards, seconds=9), b'x').kind)"
    )
    root = Path(command.__file__).resolve().parents[1]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, timeout=60)
    assert done.stdout == "memory\n", done.stderr


def test_the_same_seed_gives_the_same_inputs() -> None:
    def inputs(seed: int) -> list[bytes]:
        seen: list[bytes] = []
        Campaign("none", Target(seen.append, seeds=(b"abc", b"defg"), seconds=60), seed).run(100)
        return seen

    assert inputs(1) == inputs(1) != inputs(2)


def test_a_saved_input_is_tried_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = save("json_text", b'{"a":1}', tmp_path)
    assert command.main(["--target", "json_text", "--replay", str(path)]) == 0
    assert "nothing is wrong" in capsys.readouterr().out


def test_it_runs_for_a_time_and_says_what_it_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        command.main(["--target", "quantity", "--minutes", "0.005", "--seed", "5", "--save", str(tmp_path)])
        == 0
    )
    output = capsys.readouterr().out
    assert output.startswith("seed 5\n") and "0 failures" in output


def test_it_ends_on_a_signal(tmp_path: Path) -> None:
    words = ["fuzz", "--target", "quantity", "--minutes", "5", "--save", str(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, "-m", "pybernetes.cmd.main", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_DFL
        ),  # in the background it may be ignored
    )
    try:
        assert process.stdout is not None and process.stdout.readline().startswith("seed ")
        process.send_signal(signal.SIGINT)
        until(lambda: process.poll() is not None)
    finally:
        process.kill()
        _, errors = process.communicate()
    assert process.returncode == 130 and "Traceback" not in errors
