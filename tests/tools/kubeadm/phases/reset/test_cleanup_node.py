"""What a reset empties."""

from __future__ import annotations

from pathlib import Path

import pytest

from pybernetes.tools.kubeadm.phases.reset import cleanup_node


def test_the_folders_of_the_whole_machine_are_not_emptied(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    cleanup_node._empty(tmp_path)
    assert list(tmp_path.iterdir()) == []
    cleanup_node._empty(Path("/proc"))
    assert "belongs to the whole machine" in capsys.readouterr().out
