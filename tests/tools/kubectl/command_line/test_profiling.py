"""--profile: files that viewers of profiles read, or a word about why there is none."""

from __future__ import annotations

import gzip
import json
import threading
from pathlib import Path

import pytest

from pybernetes.lib import protobuf_wire as wire
from pybernetes.tools.kubectl.command_line.profiling import profiled
from pybernetes.tools.kubectl.errors import CommandError
from tests.tools.kubectl.run_kubectl import run as kubectl


def at_work() -> int:
    """Compute for a while, wait for a while, start a thread."""
    kept.append([str(number) for number in range(200_000)])
    thread = threading.Thread(target=threading.Event().wait, args=(0.2,))
    thread.start()
    thread.join()
    return 7


kept: list[list[str]] = []


def strings(path: Path) -> set[str]:
    fields = wire.fields(gzip.decompress(path.read_bytes()))
    return {value.decode() for number, value in fields if number == 6 and isinstance(value, bytes)}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cpu", {"samples", "cpu", "nanoseconds", "at_work"}),
        ("block", {"contentions", "delay", "nanoseconds", "at_work"}),
        ("heap", {"inuse_objects", "inuse_space", "bytes", "test_profiling.py"}),
        ("goroutine", {"goroutine", "count", "profiled"}),
        ("threadcreate", {"threadcreate", "count", "at_work"}),
    ],
)
def test_a_profile(name: str, expected: set[str], tmp_path: Path) -> None:
    output = tmp_path / "profile.pprof"
    assert profiled(name, str(output), at_work) == 7
    assert expected <= strings(output)
    kept.clear()


def test_a_trace_has_every_call(tmp_path: Path) -> None:
    output = tmp_path / "trace.json"
    profiled("trace", str(output), at_work)
    events = json.loads(output.read_text())["traceEvents"]
    assert {"at_work", "Thread.start", "Event.wait"} <= {event["name"] for event in events}
    assert all(event["ph"] == "X" and event["dur"] >= 0 for event in events)
    assert len({event["tid"] for event in events}) == 2
    kept.clear()


def test_a_command_that_fails_is_profiled_too(tmp_path: Path) -> None:
    output = tmp_path / "profile.pprof"
    code, _, errors = kubectl(
        "kustomize", "/nonexistent", "--profile=goroutine", f"--profile-output={output}"
    )
    assert code == 1 and "not a valid directory" in errors
    assert "goroutine" in strings(output)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("mutex", "not noted who holds a lock"),
        ("allocs", "not counted"),
        ("nothing", "unknown profile 'nothing'"),
    ],
)
def test_what_there_is_not(name: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=why):
        profiled(name, str(tmp_path / "profile"), at_work)
    assert not (tmp_path / "profile").exists()


def test_rather_no_work_than_no_profile(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no such file or directory"):
        profiled("cpu", str(tmp_path / "nothere" / "profile"), lambda: pytest.fail("it is done"))
