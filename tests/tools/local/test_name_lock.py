"""A name belongs to one cluster of a machine at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from pybernetes.tools.local import name_lock, network
from pybernetes.tools.local.paths import Cluster


def test_a_name_belongs_to_one_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cluster, "run", property(lambda self: tmp_path / "run" / self.name))
    first, second = Cluster("trial", tmp_path / "first"), Cluster("trial", tmp_path / "second")
    assert name_lock.may_have(first) and not first.exists
    name_lock.take(first)
    name_lock.take(first)
    assert first.exists  # by its name alone, so that it can be deleted
    assert not name_lock.may_have(second) and not second.exists
    with pytest.raises(name_lock.NameTaken, match=f"PYBERNETES_HOME={tmp_path / 'first'} pyb delete trial"):
        name_lock.take(second)
    name_lock.give_back(second)
    assert not name_lock.may_have(second)
    name_lock.give_back(first)
    assert not (tmp_path / "run").exists()
    name_lock.take(second)
    assert second.owner == str(second.root)


def test_which_namespaces_are_those_of_a_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "_NAMESPACES", tmp_path)
    for name in ("pyb-a-a", "pyb-a-a-2", "pyb-a-a-a-a", "pyb-a-2-a-2", "pyb-a-b", "cni-1"):
        (tmp_path / name).touch()
    assert network.nodes("a") == {"a", "a-2"}
    assert network.nodes("a-a") == {"a-a"}
    assert network.nodes("a-2") == {"a-2"}
    assert network.nodes("b") == set()
