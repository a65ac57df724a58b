"""Which processes the settings of a cluster mean."""

from __future__ import annotations

from pathlib import Path

from pybernetes.tools.local import processes
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import NodeSettings, Settings


def test_a_stopped_node_runs_nothing(tmp_path: Path) -> None:
    nodes = [NodeSettings("c", 0), NodeSettings("c-2", 1, stopped=True)]
    specs = processes.desired_processes(Cluster("c", tmp_path), Settings(nodes=nodes))
    assert [spec.name for spec in specs] == ["control-plane", "containerd-c", "node-c"]
    assert specs[1].command[:2] == ("nsenter", "--net=/run/netns/pyb-c-c")
    alone = processes.desired_processes(Cluster("c", tmp_path), Settings(nodes=nodes, host_network=True))
    assert alone[1].command[0] == "containerd"
