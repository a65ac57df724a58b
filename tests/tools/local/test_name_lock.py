"""A name belongs to one cluster of a machine at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from pybernetes.tools.local import name_lock
from pybernetes.tools.local.paths import Cluster


def test_a_name_belongs_to_one_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cluster, "run", property(lambda self: tmp_path / "run" / self.name))
    first, second = Cluster("trial", tmp_path / "first"), Cluster("trial", tmp_path / "second")
    assert name_lock.may_have(first) and not first.exists
    name_lock.acquire(first)
    name_lock.acquire(first)
    assert first.exists  # by its name alone, so that it can be deleted
    assert not name_lock.may_have(second) and not second.exists
    with pytest.raises(name_lock.NameTaken, match=f"PYBERNETES_HOME={tmp_path / 'first'} pyb delete trial"):
        name_lock.acquire(second)
    name_lock.release(second)
    assert not name_lock.may_have(second)
    name_lock.release(first)
    assert not (tmp_path / "run").exists()
    name_lock.acquire(second)
    assert second.owner == str(second.root)
