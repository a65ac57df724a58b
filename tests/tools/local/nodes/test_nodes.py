"""A local cluster with real containers, and what it leaves on the machine: nothing."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import urllib.request
from functools import partial
from pathlib import Path

import pytest

from pybernetes.tools.local.network import network
from tests.support import require_program, require_root, until
from tests.tools.local.user import User

pytestmark = [pytest.mark.slow, pytest.mark.e2e]
NAME = f"testnodes-{os.getpid()}"
RUN = f"/run/pybernetes/{NAME}"


def traces(home: Path) -> list[str]:
    """Return what a cluster of this test would leave behind: processes, mounts, links, namespaces, rules, groups."""
    traces = [
        line for line in Path("/proc/mounts").read_text().splitlines() if str(home) in line or RUN in line
    ]
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(home) in line or RUN in line or f"--cluster {NAME}" in line:
            traces.append(line)
    for command in (["ip", "netns"], ["iptables-save"], ["ip", "route", "show", "table", "all"]):
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        traces += [line for line in output.splitlines() if NAME in line]
    traces += [str(path) for path in Path("/sys/fs/cgroup").glob(f"*/pybernetes/{NAME}*")]
    traces += [str(path) for path in Path("/sys/fs/cgroup").glob(f"pybernetes/{NAME}*")]
    traces += [str(path) for path in Path("/run/pybernetes").glob(f"{NAME}*")]
    return traces


def web(folder: Path) -> Path:
    """Return the root of an image: a web server and a page."""
    (folder / "bin").mkdir(parents=True)
    (folder / "www").mkdir()
    shutil.copy(require_program("busybox"), folder / "bin" / "busybox")
    (folder / "www" / "index.html").write_text("hello\n")
    return folder


def answers(url: str) -> bytes:
    """Return what a service says, once it can be reached."""

    def answer() -> bytes:
        with urllib.request.urlopen(url, timeout=5) as response:
            return response.read()

    return until(answer, not_yet=(OSError,))


def test_a_cluster_with_real_nodes(tmp_path: Path) -> None:
    require_root()
    for program in ("kubectl", "containerd", "busybox"):
        require_program(program)
    user = User(tmp_path)
    try:
        user.pyb("up", NAME, "--wait")
        assert "built docker.io/library/web:1" in user.pyb(
            "image", "build", str(web(tmp_path / "web")), "--tag", "web:1",
            "--entrypoint", "/bin/busybox httpd -f -p 80 -h /www",
        )  # fmt: skip
        assert f"docker.io/library/web:1  ({NAME})" in user.pyb("image", "ls")
        other = User(tmp_path / "other")
        assert f"has the name '{NAME}' on this machine" in other.pyb("up", NAME, code=1)
        assert "there is no cluster named" in other.pyb("delete", NAME, code=1)
        user.kubectl("run", "web", "--image=web:1", "--port=80")
        user.kubectl("wait", "--for=condition=Ready", "pod/web", "--timeout=60s")
        address = user.kubectl("get", "pod", "web", "-o", "jsonpath={.status.podIP}")
        answer = user.pyb("node", "shell", NAME, "--", "busybox", "wget", "-qO-", f"http://{address}/")
        assert answer == "hello\n"
        user.kubectl("expose", "pod", "web", "--type=NodePort")
        url = user.pyb("service", "web", "--url").strip()
        assert url.startswith("http://172.30.") and answers(url) == b"hello\n"

        assert f"{NAME}-2 is added" in user.pyb("node", "add")
        user.until(" Ready", "get", "node", f"{NAME}-2", "--ignore-not-found")
        assert f"docker.io/library/web:1  ({NAME}, {NAME}-2)" in user.pyb("image", "ls")
        user.pyb("node", "stop", f"{NAME}-2")
        assert f"{NAME}-2 (stopped)" in user.pyb("status")
        user.pyb("node", "rm", f"{NAME}-2")
        assert f"{NAME}-2" not in user.kubectl("get", "nodes")

        # The agents of the node die: the supervisor brings them back, and the container has not noticed.
        before = user.kubectl(
            "get", "pod", "web", "-o", "jsonpath={.status.containerStatuses[0].containerID}"
        )
        line = next(line for line in user.pyb("status").splitlines() if f"node-{NAME}" in line)
        os.kill(int(line.partition("process ")[2].rstrip(")")), signal.SIGKILL)
        user.kubectl("run", "again", "--image=web:1")
        user.kubectl("wait", "--for=condition=Ready", "pod/again", "--timeout=60s")
        after = user.kubectl("get", "pod", "web", "-o", "jsonpath={.status.containerStatuses[0].containerID}")
        assert before == after

        user.pyb("down")
        assert not [line for line in traces(tmp_path) if not line.startswith(("pyb-", "-A", "/run"))]
        user.pyb("up", NAME, "--wait")
        user.kubectl("wait", "--for=condition=Ready", "pod/web", "--timeout=60s")
    finally:
        user.pyb("delete", NAME)
    assert traces(tmp_path) == []
    assert network.bridge_name(NAME) not in os.listdir("/sys/class/net")


def _is_there_or_ended(sign: Path, process: subprocess.Popen[bytes]) -> bool:
    return sign.exists() or process.poll() is not None


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_up_that_is_cut_short_can_be_gone_on_with_or_deleted(tmp_path: Path, how: signal.Signals) -> None:
    require_root()
    require_program("kubectl")
    require_program("containerd")
    user = User(tmp_path)
    folder = tmp_path / "state" / "clusters" / NAME
    command = [sys.executable, "-m", "pybernetes.cmd.main", "up", NAME, "--nodes", "1", "--wait"]
    signs = (
        folder / "cluster.json",
        Path(f"/run/netns/{network.namespace(NAME, NAME)}"),
        folder / "supervisor.pid",
    )
    try:
        for sign in signs:
            process = subprocess.Popen(
                command, env=user.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            until(partial(_is_there_or_ended, sign, process))
            process.send_signal(how)
            process.wait(60)
        assert f"the node {NAME} is ready" in user.pyb("up", NAME, "--wait")
    finally:
        user.pyb("delete", NAME)
    assert traces(tmp_path) == []
