"""What kubeadm removes again when it fails."""

from __future__ import annotations

from pathlib import Path

from pybernetes.tools.kubeadm.leftovers import Leftovers


def test_what_came_since_is_removed(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "old").write_text("old")
    leftovers = Leftovers([tmp_path / "kept", tmp_path / "new"])
    (tmp_path / "kept" / "fresh").write_text("")
    (tmp_path / "new" / "deep").mkdir(parents=True)
    (tmp_path / "new" / "deep" / "file").write_text("")
    leftovers.remove()
    assert [str(path.relative_to(tmp_path)) for path in sorted(tmp_path.rglob("*"))] == ["kept", "kept/old"]
