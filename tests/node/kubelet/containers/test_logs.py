"""Reading and following the logs of containers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.node.kubelet.containers import logs


def _log(path: Path) -> Path:
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
    whole = path.read_bytes()[logs.tail_offset(path, count) :].decode()
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
