"""A node with real containers as a user has it: what kubectl does with pods, and that nothing stays behind."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from pybernetes.node.kubelet.volumes import host_mounts
from pybernetes.tools.local.nodes.machine import Machine
from pybernetes.tools.local.nodes.node import Node
from pybernetes.tools.local.paths import Cluster
from tests.node.kubelet.real_node import IMAGE, busybox
from tests.support import end, require_program, require_root, until
from tests.tools.local.user import User

pytestmark = [pytest.mark.slow, pytest.mark.e2e]
NAME = f"real-{os.getpid()}"
_COUNT = "i=0; while true; do echo line $i; i=$((i+1)); sleep 0.1; done"


def inside_machine(machine: Machine, *words: str) -> str:
    return subprocess.run(machine.command(*words), capture_output=True, text=True, check=True).stdout


def parts(home: Path) -> dict[str, int]:
    """Return how much of the node's pods is on the machine: folders, mounts, control groups, links, rules, processes.

    Only of pods, so that without any there is nothing: what is counted before a pod comes is otherwise what others that
    are going happen to have left.
    """
    machine = Node(Cluster(NAME, home), NAME).machine
    # Without those of this machine's own containers, which were there before the node.
    # Read as bytes: a mount point may have a carriage return in it, which is no end of a line.
    table = Path("/proc/self/mountinfo").read_bytes().decode(errors="replace")
    others = {line.split(" ")[4] for line in table.split("\n") if line}
    mounts = [
        line
        for line in inside_machine(machine, "cat", "/proc/self/mountinfo").split("\n")
        if any(part in line for part in (" /var/lib/kubelet/pods/", "/sandboxes/", "/k8s.io/"))
        and line.split(" ")[4] not in others
    ]
    groups = [
        name
        for hierarchy in (Path("/sys/fs/cgroup"), *Path("/sys/fs/cgroup").iterdir())
        for _, names, _ in os.walk(hierarchy / "pybernetes" / NAME)
        for name in names
        if re.fullmatch("pod[0-9a-f-]{32,36}|[0-9a-f]{64}", name)
    ]
    links = inside_machine(machine, "ip", "-brief", "link")
    rules = inside_machine(machine, "iptables-save")
    processes = 0
    for pid in machine.processes():
        try:
            processes += b"containerd-shim" in Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue  # it has just gone
    folders = [
        path for name in ("/var/log/pods", "/var/lib/kubelet/pods") for path in machine.own(name).glob("*")
    ]
    return {
        "folders": len(folders),
        "mounts": len(mounts),
        "control groups": len(groups),
        "links": sum(line.startswith("veth") for line in links.splitlines()),
        "rules": sum("CNI-DN-" in line for line in rules.splitlines()),  # those of a port of the host
        "processes": processes,
    }


class Terminal:
    """kubectl on a terminal of its own."""

    def __init__(self, user: User, *arguments: str) -> None:
        self._mine, theirs = pty.openpty()
        self._seen = ""  # and not looked at yet
        self.process = subprocess.Popen(
            ["kubectl", *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=user.environment
        )
        os.close(theirs)

    def type(self, text: str) -> None:
        os.write(self._mine, text.encode())

    def until(self, wanted: str) -> str:
        """Read until a text has come; return everything up to its end. What follows is for the next time."""
        deadline = time.monotonic() + 60
        while wanted not in self._seen:
            assert time.monotonic() < deadline, self._seen
            if select.select([self._mine], [], [], 0.5)[0]:
                try:
                    self._seen += os.read(self._mine, 65536).decode(errors="replace")
                except OSError:  # how the end of a terminal looks
                    assert wanted in self._seen, self._seen
        before, _, self._seen = self._seen.partition(wanted)
        return before + wanted

    def close(self) -> int:
        code = self.process.wait(60)
        os.close(self._mine)
        return code


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[User]:
    require_root()
    for program in ("containerd", "runc", "catatonit", "busybox", "ip", "kubectl"):
        require_program(program)
    home = tmp_path_factory.mktemp("home")
    somebody = User(home)
    (home / "busybox.tar").write_bytes(busybox())
    try:
        somebody.pyb("up", NAME, "--nodes", "1", "--wait")
        somebody.pyb("image", "load", str(home / "busybox.tar"), "--cluster", NAME)
        yield somebody
    finally:
        somebody.pyb("delete", NAME)


def run(user: User, name: str, script: str) -> None:
    user.kubectl("run", name, f"--image={IMAGE}", "--image-pull-policy=Never", "--", "sh", "-c", script)
    user.kubectl("wait", "--for=condition=Ready", f"pod/{name}", "--timeout=60s")


def test_a_pod_with_kubectl(user: User, tmp_path: Path) -> None:
    run(user, "busy", _COUNT)
    follow = subprocess.Popen(
        ["kubectl", "logs", "-f", "busy"], stdout=subprocess.PIPE, text=True, env=user.environment
    )
    assert follow.stdout is not None
    assert [follow.stdout.readline() for _ in range(3)] == ["line 0\n", "line 1\n", "line 2\n"]

    shell = Terminal(user, "exec", "-it", "busy", "--", "sh")
    shell.until("# ")
    shell.type("tty; echo $((6*7))\n")
    assert "/dev/pts/0" in shell.until("42")
    shell.type("exit 5\n")
    shell.until("exit code 5")
    assert shell.close() == 5

    (tmp_path / "here").write_text("copied")
    user.kubectl("cp", str(tmp_path / "here"), "busy:/tmp/there")
    user.kubectl("cp", "busy:/tmp/there", str(tmp_path / "back"))
    assert (tmp_path / "back").read_text() == "copied"

    user.kubectl(
        "debug", "busy", f"--image={IMAGE}", "--image-pull-policy=Never", "--target=busy", "--container=look",
        "--profile=general", "--", "sh", "-c", "ps; sleep 1000",
    )  # fmt: skip

    def debugging() -> bool:
        command = ["kubectl", "logs", "busy", "-c", "look"]
        done = subprocess.run(command, env=user.environment, text=True, capture_output=True)
        assert not done.returncode or "is waiting to start" in done.stderr, done.stderr
        return "i=$((i+1))" in done.stdout

    until(debugging)

    user.kubectl("delete", "pod", "busy", "--now")
    assert follow.wait(60) == 0
    follow.stdout.close()


def test_run_attached(user: User) -> None:
    command = (
        "run",
        "-it",
        "--rm",
        "typed",
        "--restart=Never",
        f"--image={IMAGE}",
        "--image-pull-policy=Never",
    )
    terminal = Terminal(user, *command, "--", "sh", "-c", "read line; echo got $line")
    terminal.until("press")  # … enter
    user.kubectl("wait", "--for=condition=Ready", "pod/typed", "--timeout=60s")
    terminal.type("this\n")
    terminal.until("got this")
    terminal.until('pod "typed" deleted')
    assert terminal.close() == 0


def test_attach_and_port_forward(user: User) -> None:
    page = "mkdir /www; echo hello > /www/index.html; httpd -p 8080 -h /www; " + _COUNT
    run(user, "web", page)
    attached = Terminal(user, "attach", "web")
    attached.until("line ")
    attached.process.terminate()
    attached.close()
    forward = subprocess.Popen(
        ["kubectl", "port-forward", "pod/web", ":8080"],
        stdout=subprocess.PIPE,
        text=True,
        env=user.environment,
    )
    try:
        assert forward.stdout is not None
        port = forward.stdout.readline().split("127.0.0.1:")[1].split()[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60) as answer:
            assert answer.read() == b"hello\n"
    finally:
        end(forward)
    user.kubectl("delete", "pod", "web", "--now")


def test_a_pod_leaves_nothing(user: User) -> None:
    home = Path(user.environment["PYBERNETES_HOME"])

    def nothing_left() -> bool:
        return not any(parts(home).values())

    until(nothing_left, story=lambda: str(parts(home)))
    overrides = {
        "spec": {
            "terminationGracePeriodSeconds": 1,
            "volumes": [{"name": "m", "emptyDir": {"medium": "Memory"}}],
            "containers": [
                {
                    "name": "c",
                    "image": IMAGE,
                    "command": ["sleep", "1000"],
                    "ports": [{"containerPort": 80, "hostPort": 8765}],
                    "volumeMounts": [{"name": "m", "mountPath": "/m", "subPath": "s"}],
                }
            ],
        }
    }
    user.kubectl("run", "traces", f"--image={IMAGE}", f"--overrides={json.dumps(overrides)}")
    user.kubectl("wait", "--for=condition=Ready", "pod/traces", "--timeout=60s")
    running = parts(home)
    assert all(running.values()), running
    user.kubectl("delete", "pod", "traces")
    until(nothing_left)


def test_nobody_else_reads_what_is_the_clusters(user: User) -> None:
    """Keys, kubeconfigs, the store and logs are their owner's alone; the control plane has few rights of root."""
    root = Path(user.environment["PYBERNETES_HOME"]) / "clusters" / NAME
    # The control plane's own user, whose group it is, may pass through to what is its own.
    assert root.stat().st_mode & 0o067 == 0
    private = [
        *root.glob("*.*"), *(root / "data").rglob("*"), *(root / "logs").rglob("*"),
        *root.glob("certificates/*.key"), *root.glob("nodes/*/*.kubeconfig"), *root.glob("nodes/*/tree/var/lib/kubelet/pki/*"),
    ]  # fmt: skip
    assert {"admin.kubeconfig", "ca.key", "control-plane.log", "kubelet-server-current.pem"} <= {
        path.name for path in private
    }
    # The settings are read by the control plane, whose group has no other member; they hold no secret.
    shared = {root / "cluster.json": 0o037}
    readable = [
        str(path) for path in private if path.is_file() and path.stat().st_mode & shared.get(path, 0o077)
    ]
    assert not readable
    pids = {
        name: program["pid"] for name, program in json.loads((root / "programs.json").read_text()).items()
    }
    status = Path(f"/proc/{pids['control-plane']}/status").read_text()
    effective = int(next(line for line in status.splitlines() if line.startswith("CapEff")).split()[1], 16)
    kept = {2, 10}  # files below a closed folder, low ports
    assert "Uid:\t0" not in status
    assert {number for number in range(64) if effective >> number & 1} <= kept
    assert "NoNewPrivs:\t1" in status
    # Containers have to be free to gain rights that they are given, so their runtime keeps them.
    assert "NoNewPrivs:\t0" in Path(f"/proc/{pids[f'containerd-{NAME}']}/status").read_text()
    for pid in pids.values():
        assert b"PRIVATE KEY" not in Path(f"/proc/{pid}/environ").read_bytes()


def test_a_kubelet_gets_itself_a_serving_certificate(user: User) -> None:
    """As when the one that it has is about to end: it asks, is answered for its own name, and serves with it."""
    root = Path(user.environment["PYBERNETES_HOME"]) / "clusters" / NAME
    pem = (
        Node(Cluster(NAME, root.parent.parent), NAME).machine.own("/var/lib/kubelet")
        / "pki/kubelet-server-current.pem"
    )
    before = pem.read_bytes()
    pem.unlink()
    os.kill(json.loads((root / "programs.json").read_text())[f"node-{NAME}"]["pid"], 9)
    until(pem.exists)
    assert pem.read_bytes() != before
    requests = user.kubectl(
        "get", "csr", "-o", "jsonpath={.items[*].spec.signerName} {.items[*].status.conditions[*].type}"
    )
    assert requests == "kubernetes.io/kubelet-serving Approved"
    count = "jsonpath={.status.containerStatuses[0].restartCount}"
    user.until(
        "1", "get", "pod", "-n", "kube-system", f"kube-proxy-{NAME}", "-o", count
    )  # its process is the kubelet's
    until(
        lambda: "kubelet_node_name" in user.kubectl("get", "--raw", f"/api/v1/nodes/{NAME}/proxy/metrics"),
        not_yet=(AssertionError,),
    )


def test_what_is_mounted_in_a_node_is_not_removed_with_it(tmp_path: Path) -> None:
    """Mounts of the user's folders that a kubelet which was killed left behind: they are undone, not emptied."""
    require_root()
    node = Node(Cluster(f"mounts-{os.getpid()}", tmp_path), "n", host_network=True)
    users = tmp_path / "users"
    users.mkdir()
    (users / "kept").touch()
    try:
        node.create_machine()
        for name in ("plain", "with space", "täglich"):
            place = f"/var/lib/kubelet/pods/u/{name}"
            script = 'mkdir -p "$1" && mount --bind "$0" "$1"'
            inside_machine(node.machine, "sh", "-c", script, str(users), place)
            assert inside_machine(node.machine, "ls", place) == "kept\n"
        assert host_mounts.mounts_below(tmp_path) == []
    finally:
        node.remove()
    assert [path.name for path in users.iterdir()] == ["kept"]
    assert not node.root.exists() and not node.cluster.run.exists()
