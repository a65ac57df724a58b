"""What is said before clusters are connected, while nothing has changed yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from pybernetes.tools.local import settings
from pybernetes.tools.local.federation import connecting
from pybernetes.tools.local.paths import Cluster, ClusterError
from pybernetes.tools.local.settings import Settings


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYBERNETES_HOME", str(tmp_path))
    return tmp_path


def make(name: str, pods: str, nodes: str, federation: bool = False) -> None:
    """Write down a cluster that does not run."""
    cluster = Cluster(name)
    cluster.settings.parent.mkdir(parents=True)
    own = Settings(pod_range=pods, node_range=nodes)
    own.federation = federation
    settings.save(cluster, own)


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (["one"], "at least two"),
        (["one", "one"], "at least two"),
        (["one", "other"], "no cluster 'other'"),
        (["one", "same"], "pods of one .* and pods of same .* would have the same addresses; .*--pod-cidr"),
        (["one", "two"], "no federation of this machine has one, two as members"),
    ],
)
def test_what_cannot_be_connected(home: Path, names: list[str], problem: str) -> None:
    make("one", "10.1.0.0/16", "172.30.1.0/24")
    make("two", "10.2.0.0/16", "172.30.2.0/24")
    make("same", "10.1.0.0/16", "172.30.3.0/24")
    with pytest.raises(ClusterError, match=problem):
        connecting.connect(names, "", lambda text: None)
