"""Static pods of a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from pybernetes.lib.clock import ManualClock
from pybernetes.node.kubelet.pod_sources.static_pod_directory import StaticPodDirectory


def test_two_files_with_one_pod(tmp_path: Path) -> None:
    text = "kind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: i}]}\n"
    for name in ("1.yaml", "2.yaml", ".hidden"):
        (tmp_path / name).write_text(text)
    changes: list[dict[str, Any]] = []
    pods = StaticPodDirectory(tmp_path, "n", ManualClock(), changes.append)
    pods._read()
    assert len(changes[-1]) == 1


def test_files_that_are_no_pods_are_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = "kind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: i}]}\n"
    (tmp_path / "elsewhere").write_text(text)
    folder = tmp_path / "manifests"
    (folder / "folder").mkdir(parents=True)
    (folder / "link.yaml").symlink_to(tmp_path / "elsewhere")
    (folder / "dangling.yaml").symlink_to("missing")
    (folder / "long.yaml").write_text("# " + "x" * (10 << 20))
    (folder / "bytes.yaml").write_bytes(b"\xff")
    os.mkfifo(folder / "pipe.yaml")
    changes: list[dict[str, Any]] = []
    StaticPodDirectory(folder, "n", ManualClock(), changes.append)._read()
    assert [pod["metadata"]["name"] for pod in changes[-1].values()] == ["a-n"]
    told = [name for name in ("dangling", "long", "bytes", "pipe", "folder") if f"{name}" in caplog.text]
    assert told == ["dangling", "long", "bytes", "pipe"]


async def test_a_changed_file_behind_a_link_is_seen_at_the_next_look(tmp_path: Path) -> None:
    """The kernel tells of changes in the folder; what a link leads to is elsewhere."""
    text = "kind: Pod\nmetadata: {name: NAME}\nspec: {containers: [{name: c, image: i}]}\n"
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "manifests"
    elsewhere.write_text(text.replace("NAME", "a"))
    folder.mkdir()
    (folder / "link.yaml").symlink_to(elsewhere)
    changes: list[dict[str, Any]] = []
    clock = ManualClock()
    pods = StaticPodDirectory(folder, "n", clock, changes.append, 5.0)
    pods.start()
    await clock.advance(5)
    assert len(changes) == 1  # nothing is new
    elsewhere.write_text(text.replace("NAME", "b"))
    await clock.advance(5)
    assert [pod["metadata"]["name"] for pod in changes[-1].values()] == ["b-n"]
    pods.stop()
