"""Reading and following the logs of containers."""

from __future__ import annotations

import asyncio
import io
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.node.kubelet.containers import logs


def _log(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["1 stdout F one", "2 stderr F two", "3 stdout P thr", "4 stdout F ee", "5 stdout F four"]
    path.write_text("\n".join(f"2026-01-01T00:00:0{line}" for line in lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "one\ntwo\nthree\nfour\n"),
        ({"tail": 2}, "three\nfour\n"),
        ({"tail": 0}, ""),
        ({"tail": 99}, "one\ntwo\nthree\nfour\n"),
        ({"limit": 5}, "one\nt"),
        ({"stream": "Stderr"}, "two\n"),
        ({"since": "2026-01-01T00:00:03"}, "three\nfour\n"),
        ({"tail": 1, "timestamps": True}, "2026-01-01T00:00:05 four\n"),
    ],
)
def test_reading_logs(tmp_path: Path, options: dict[str, Any], text: str) -> None:
    async def collect() -> bytes:
        return b"".join([piece async for piece in logs.read(path, logs.LogOptions(**options))])

    path = _log(tmp_path / "0.log")
    assert asyncio.run(collect()).decode() == text


def test_following_a_log_through_rotation(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_text("t stdout F a\n")

    async def follow() -> bytes:
        ended, out = asyncio.Event(), b""
        async for piece in logs.read(path, logs.LogOptions(follow=True), ended):
            out += piece
            if out == b"a\n":
                path.rename(tmp_path / "0.log.1")
                path.write_text("t stdout F b\n")
            else:
                ended.set()
        return out

    assert asyncio.run(follow()) == b"a\nb\n"


@given(st.lists(st.text("ab ", max_size=5), max_size=30), st.integers(0, 40))
def test_the_tail_of_a_log(tmp_path_factory: Any, lines: list[str], count: int) -> None:
    path = tmp_path_factory.getbasetemp() / "tail.log"
    path.write_text("".join(f"t stdout F {line}\n" for line in lines))
    with path.open("rb") as file:
        whole = path.read_bytes()[logs.tail_offset(file, count) :].decode()
    assert whole == "".join(f"t stdout F {line}\n" for line in (lines[-count:] if count else []))


def test_logs_have_names_for_collectors(tmp_path: Path) -> None:
    log = tmp_path / "0.log"
    log.write_text("x")
    for _ in range(2):
        logs.link(tmp_path / "links", "pod", "space", "c", "id", log)
    assert (tmp_path / "links" / "pod_space_c-id.log").read_text() == "x"
    logs.drop_links(tmp_path / "links")
    assert len(list((tmp_path / "links").iterdir())) == 1
    logs.remove(str(log))
    logs.drop_links(tmp_path / "links")
    logs.drop_links(tmp_path / "absent")
    assert list((tmp_path / "links").iterdir()) == []


def test_no_names_are_given_or_taken_elsewhere(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The folder of names is a link: who made it does not have names made or removed where it leads."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "dangling.log").symlink_to("missing")
    (tmp_path / "links").symlink_to(outside)
    logs.link(tmp_path / "links", "pod", "space", "c", "id", tmp_path / "0.log")
    logs.drop_links(tmp_path / "links")
    assert [path.name for path in outside.iterdir()] == ["dangling.log"] and "gets no name" in caplog.text


def _reference_tail(data: bytes, count: int) -> bytes:
    """Return the last lines in the simplest way: parts of a line belong to what ends it."""
    whole: list[bytes] = [b""]
    for line in data.splitlines(keepends=True):
        whole[-1] += line
        parsed = logs.parse(line.rstrip(b"\n"))
        if line.endswith(b"\n") and (parsed is None or parsed.whole):
            whole.append(b"")
    kept = [index for index in range(len(whole) - 1)][-count:] if count else []
    return b"".join(whole[index] for index in kept) + whole[-1] if count else b""


@given(
    lines=st.lists(
        st.tuples(st.sampled_from(["t stdout F ", "t stdout P ", "junk"]), st.integers(0, 300)), max_size=30
    ),
    count=st.integers(0, 20),
    block=st.integers(1, 400),
)
def test_the_tail_does_not_depend_on_blocks(lines: list[tuple[str, int]], count: int, block: int) -> None:
    data = b"".join(f"{head}{'x' * length}\n".encode() for head, length in lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(logs, "_BLOCK", block)
        assert data[logs.tail_offset(io.BytesIO(data), count) :] == _reference_tail(data, count)


def test_the_tail_of_one_endless_line_is_found_in_linear_time() -> None:
    """A container that never ends its line: each byte of its log is read once."""

    class Counted(io.BytesIO):
        count = 0

        def read(self, size: int | None = -1) -> bytes:
            data = super().read(size)
            self.count += len(data)
            return data

    log = Counted((b"t stdout P " + b"x" * 16000 + b"\n") * 500)
    assert logs.tail_offset(log, 1) == 0 and log.count == len(log.getvalue())


def test_last_words_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "n_p_u/c/0.log"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"t stdout P " + b"x" * 300_000 + b"\n" + b"t stdout F end\n")
    assert logs.last_text(path) == "end\n"
    path.write_bytes(b"".join(b"t stdout P %d\n" % (number % 10) for number in range(30_000)))
    assert logs.last_text(path) == "".join(str(number % 10) for number in range(30_000))[-2048:]
    path.write_bytes(b"".join(b"t stdout F %d\n" % number for number in range(200)))
    assert logs.last_text(path) == "".join(f"{number}\n" for number in range(120, 200))


@pytest.mark.parametrize("what", ["link", "pipe", "folder", "pod"])
def test_logs_that_are_none(tmp_path: Path, what: str) -> None:
    """Who can write to the folder of logs, as a pod with a hostPath volume, does not have other files of the host read."""
    secret = tmp_path / "secret"
    (secret / "c").mkdir(parents=True)
    (secret / "c/0.log").write_text("t stdout F secret\n")
    path = tmp_path / "logs/n_p_u/c/0.log"
    if what == "pod":
        path.parents[2].mkdir()
        path.parents[1].symlink_to(secret)
    else:
        path.parent.mkdir(parents=True)
    if what == "link":
        path.symlink_to(secret / "c/0.log")
    elif what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    with pytest.raises(OSError):
        logs.open_log(path)
    assert logs.last_text(path) == ""
    if what != "folder":
        logs.remove(str(path))
    assert (secret / "c/0.log").exists()
