"""Static pods of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
