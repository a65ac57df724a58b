"""Which processes the settings of a cluster mean."""

from __future__ import annotations

import subprocess
import sys
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


def test_nobody_lends_us_modules(tmp_path: Path) -> None:
    """A file in the folder in which the user stands is no module of ours."""
    for name in ("pybernetes", "asyncio", "uvloop", "argparse"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('planted')")
    done = subprocess.run(
        processes.pyb("version"), cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0 and "planted" not in done.stderr
    specs = processes.desired_processes(Cluster("c", tmp_path), Settings(nodes=[NodeSettings("c", 0)]))
    ours = [spec.command for spec in specs if sys.executable in spec.command]
    assert len(ours) == 2 and all("-P" in command for command in ours)
