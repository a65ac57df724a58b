"""A cluster with two control planes as a user has it: up, an API server killed while clients write and watch, deleted."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pybernetes.tools.local.drill import drill, report
from pybernetes.tools.local.drill.site import Site
from pybernetes.tools.local.paths import Cluster
from tests.support import image_stores, require_program, require_root

pytestmark = pytest.mark.slow
NAME = f"ha-{os.getpid()}"
PROGRAMS = ("containerd", "runc", "etcd", "etcdctl", "haproxy", "keepalived", "catatonit", "iptables", "curl")


def pyb(home: Path, *words: str) -> str:
    # The home is not another one: what images are made of is kept there.
    environment = {
        **os.environ,
        "PYBERNETES_HOME": str(home / "state"),
        "KUBECONFIG": str(home / "kubeconfig"),
    }
    command = [sys.executable, "-m", "pybernetes.cmd.main", *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def left_over() -> list[str]:
    """Return what reminds of the cluster on the machine."""
    namespaces = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
    mounts = Path("/proc/mounts").read_text()
    lines = [*namespaces.splitlines(), *links.splitlines(), *mounts.splitlines()]
    groups = Path("/sys/fs/cgroup").glob(f"**/pybernetes/{NAME}")
    return [line for line in lines if NAME in line] + [str(group) for group in groups]


def test_clients_go_on_when_an_api_server_is_killed(tmp_path: Path) -> None:
    require_root()
    for program in PROGRAMS:
        require_program(program)
    cluster = Cluster(NAME, tmp_path / "state")
    (tmp_path / "state").mkdir()
    image_stores().mkdir(exist_ok=True)
    (tmp_path / "state" / "image-stores").symlink_to(image_stores())
    try:
        assert "is a control plane behind" in pyb(tmp_path, "up", NAME, "--control-planes", "2")
        outcome = asyncio.run(drill.carry_out(cluster, "kill-api-server"))
        # Not how long it took: that is what drills are for, and not tests.
        assert outcome.figures is not None and outcome.figures.is_good, report.as_text([outcome])
        assert outcome.figures.acknowledged and not outcome.problem, report.as_text([outcome])
        site = Site(cluster)
        assert asyncio.run(site.holder()) in site.control_planes and len(site.members) == 2
        container = '{range .items[*]}{.status.containerStatuses[0].restartCount}{"\\n"}{end}'
        words = ("get", "pods", "-n", "kube-system", "-l", "component=kube-apiserver")
        counts = pyb(
            tmp_path, "kubectl", f"--kubeconfig={cluster.kubeconfig}", *words, "-o", f"jsonpath={container}"
        )
        assert any(int(count) for count in counts.split()), counts
    finally:
        pyb(tmp_path, "delete", NAME)
    assert left_over() == [] and not cluster.root.exists()
