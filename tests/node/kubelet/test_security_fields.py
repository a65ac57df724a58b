"""What pods and containers ask for their security, seen from inside of real ones; what cannot be had is refused."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pybernetes.lib import oci
from pybernetes.node.containerd import images
from pybernetes.node.kubelet.pod_admission.app_armor import host_has_app_armor
from tests.node.kubelet.real_node import FOREVER, Node, container, phase, real_node, shell
from tests.support import require_program

pytestmark = [pytest.mark.slow, pytest.mark.e2e]
# Forbids one call, so that a process sees whether it applies.
NO_MKDIR = {
    "defaultAction": "SCMP_ACT_ALLOW",
    "syscalls": [{"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO"}],
}
LOOK = (
    "cat /proc/self/status; echo first $(cat /proc/1/comm); id; ls /proc/self/ns -l; env; cat /proc/mounts; ls /dev; ls -ln /v;"
    " mkdir /tmp/x 2>&1; touch /root-file 2>&1; cat /proc/sys/net/ipv4/tcp_fin_timeout;"
    " wc -c /proc/interrupts 2>&1; ls /var/run/secrets 2>&1; true"
)
CAPABILITIES = {"CHOWN": 0, "NET_ADMIN": 12, "SYS_ADMIN": 21}


class Seen:
    """What a container printed about itself."""

    def __init__(self, text: str) -> None:
        self.text = text

    def status(self, key: str) -> str:
        """Return a line of the process's status."""
        return (
            next(line for line in self.text.splitlines() if line.startswith(f"{key}:")).split(":")[1].strip()
        )

    def can(self, capability: str, of: str = "CapBnd") -> bool:
        """Return whether a set of capabilities has one."""
        return bool(int(self.status(of), 16) >> CAPABILITIES[capability] & 1)

    def namespace(self, name: str) -> str:
        """Return the identity of a namespace."""
        return next(part for part in self.text.split() if part.startswith(f"{name}:["))


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    directory = tmp_path_factory.mktemp("fields")
    for folder in (directory, *directory.parents):
        if not folder.stat().st_mode & 0o001:
            folder.chmod(0o711)  # root of a pod's own users has to pass
    with real_node(directory, "--allowed-unsafe-sysctls=net.core.*") as node:
        profiles = node.directory / "kubelet" / "seccomp"
        profiles.mkdir(parents=True, exist_ok=True)
        (profiles / "no-mkdir.json").write_text(json.dumps(NO_MKDIR))
        yield node


def _logs(node: Node, pod: str, name: str = "c") -> Seen:
    return Seen(node.server.kubectl("logs", pod, "-c", name))


def _once(name: str, **more: Any) -> dict[str, Any]:
    return shell(LOOK, name, **more)


def test_what_a_container_is_given(node: Node) -> None:
    """Each container of one pod asks for something else, and sees whether it has it."""
    nothing = {"drop": ["ALL"]}
    node.create(
        "given",
        _once("plain", volumeMounts=[{"name": "v", "mountPath": "/v", "readOnly": True}]),
        _once("restricted", securityContext={
            "capabilities": nothing, "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
            "seccompProfile": {"type": "RuntimeDefault"}, "runAsNonRoot": True,
        }),
        _once("own", securityContext={
            "runAsUser": 1, "runAsGroup": 2, "seccompProfile": {"type": "Localhost", "localhostProfile": "no-mkdir.json"},
            "capabilities": {"add": ["NET_ADMIN"], "drop": ["CAP_CHOWN"]},
        }),
        _once("privileged", securityContext={"privileged": True, "runAsUser": 0, "runAsNonRoot": False}),
        restartPolicy="Never",
        enableServiceLinks=False,
        volumes=[{"name": "v", "emptyDir": {}}],
        securityContext={
            "runAsUser": 1000, "runAsGroup": 2000, "fsGroup": 3000, "supplementalGroups": [4000], "runAsNonRoot": True,
            "sysctls": [{"name": "net.ipv4.tcp_fin_timeout", "value": "77"}, {"name": "net/core/somaxconn", "value": "7"}],
        },
    )  # fmt: skip
    node.until_pod("given", phase("Succeeded"))
    plain, restricted, own, privileged = (
        _logs(node, "given", name) for name in ("plain", "restricted", "own", "privileged")
    )
    assert plain.status("Uid").split() == ["1000"] * 4 and plain.status("Gid").split() == ["2000"] * 4
    assert "groups=2000,3000,4000" in plain.text
    assert plain.status("Seccomp") == "0" and plain.status("NoNewPrivs") == "0"
    assert plain.can("CHOWN") and not plain.can("NET_ADMIN") and not plain.can("CHOWN", "CapEff")
    assert "\n77\n" in plain.text and "\n0 /proc/interrupts" in plain.text
    assert "secrets: No such file" in plain.text  # there is no token that nobody asked for
    assert any(" /v " in line and " ro," in line for line in plain.text.splitlines())
    assert " 3000 " in plain.text  # the group of the volume
    assert restricted.status("CapBnd") == "0000000000000000" and restricted.status("NoNewPrivs") == "1"
    assert restricted.status("Seccomp") == "2"
    assert "/root-file: Read-only file system" in restricted.text
    assert own.status("Uid").split()[0] == "1" and own.status("Gid").split()[0] == "2"
    assert own.status("Seccomp") == "2" and "can't create directory '/tmp/x'" in own.text
    assert own.can("NET_ADMIN") and not own.can("CHOWN")
    assert privileged.can("SYS_ADMIN") and privileged.status("Uid").split()[0] == "0"
    assert "kmsg" in privileged.text and "kmsg" not in plain.text
    assert plain.namespace("ipc") == own.namespace("ipc") and "\nfirst sh\n" in plain.text
    node.delete("given")


def test_namespaces_of_the_node_and_of_the_pod(node: Node) -> None:
    node.create("host", _once("c"), hostNetwork=True, hostPID=True, hostIPC=True, restartPolicy="Never")
    node.create(
        "shared", _once("c"), _once("d"), shareProcessNamespace=True, restartPolicy="Never",
        securityContext={"fsGroupChangePolicy": "OnRootMismatch"},
    )  # fmt: skip
    for name in ("host", "shared"):
        node.until_pod(name, phase("Succeeded"))
    host = _logs(node, "host")
    for name in ("net", "pid", "ipc"):
        own = os.readlink(f"/proc/thread-self/ns/{name}")
        assert host.namespace(name) == own
        assert _logs(node, "shared").namespace(name) != own
    assert _logs(node, "shared").namespace("pid") == _logs(node, "shared", "d").namespace("pid")
    assert "\nfirst sh\n" not in _logs(node, "shared").text
    assert host.namespace("user") == os.readlink("/proc/self/ns/user")
    # CVE-2020-10749: a pod that announces itself as a router does not become the node's.
    announced = Path("/proc/sys/net/ipv6/conf/cni0/accept_ra")
    assert not announced.exists() or announced.read_text() == "0\n"
    for name in ("host", "shared"):
        node.delete(name)


def _image(node: Node, name: str, user: str) -> str:
    """Import an image that names a user."""
    tag = f"docker.io/library/{name}:1"
    program = oci.layer({"etc/passwd": oci.File(b"root:x:0:0::/:/bin/sh\nweb:x:7:7::/:/bin/sh\n")})
    archive = oci.archive(tag, program, oci.Process(command=("sh",), user=user), *_busybox_layers())
    node.runner.run(images.load(node.places.socket, archive))
    return tag


def _busybox_layers() -> list[bytes]:
    program = Path(require_program("busybox")).read_bytes()
    return [
        oci.layer({"bin/busybox": oci.File(program, 0o755), "bin/sh": oci.File(link="busybox"),
                   "bin/id": oci.File(link="busybox"), "bin/sleep": oci.File(link="busybox")})
    ]  # fmt: skip


def _until_event(node: Node, pod: str, reason: str, message: str = "") -> None:
    """Wait until an event about a pod tells a reason."""

    def told() -> bool:
        _, listed = node.server.call("GET", "/api/v1/namespaces/default/events")
        return any(
            event["involvedObject"]["name"] == pod
            and event["reason"] == reason
            and message in event["message"]
            for event in listed["items"]
        )

    node.until(told)


def _until_waits(node: Node, pod: str, reason: str) -> dict[str, Any]:
    """Wait until the container of a pod waits for a reason; return the pod."""

    def waits(pod: dict[str, Any]) -> bool:
        return container(pod)["state"].get("waiting", {}).get("reason") == reason

    return node.until_pod(pod, waits)


def test_images_that_run_as_root_where_nobody_may(node: Node) -> None:
    """CVE-2019-11245: an image without a user runs as root, at the first start and at every other."""
    wrong = {"nobody-named": "", "named": "web", "zero": "0"}
    for name, user in wrong.items():
        node.create(
            name,
            shell("id", image=_image(node, name, user), imagePullPolicy="Never"),
            securityContext={"runAsNonRoot": True},
        )
    right = shell(f"id; {FOREVER}", image=_image(node, "numbered", "12"), imagePullPolicy="Never")
    node.create("numbered", right, securityContext={"runAsNonRoot": True})
    texts = {
        "nobody-named": "container has runAsNonRoot and image will run as root",
        "named": "container has runAsNonRoot and image has non-numeric user (web), cannot verify user is non-root",
        "zero": "container has runAsNonRoot and image will run as root",
    }
    for name, text in texts.items():
        pod = _until_waits(node, name, "CreateContainerConfigError")
        shown = f'{text} (pod: "{name}_default({pod["metadata"]["uid"]})", container: c)'
        assert container(pod)["state"]["waiting"]["message"] == shown
        _until_event(node, name, "Failed", f"Error: {shown}")
    node.until_ready("numbered")
    assert "uid=12" in _logs(node, "numbered").text
    for name in (*wrong, "numbered"):
        node.delete(name)


def _handler(node: Node) -> dict[str, bool]:
    """Return what the node's runtime can do."""
    _, own = node.server.call("GET", f"/api/v1/nodes/{node.name}")
    handlers = {handler.get("name", ""): handler for handler in own["status"].get("runtimeHandlers") or ()}
    return handlers.get("", {}).get("features") or {}


def test_pods_that_this_node_rejects(node: Node) -> None:
    """Each asks for something that the kernel or the runtime lacks, or that nobody may have here."""
    rejected: dict[str, tuple[str, dict[str, Any]]] = {
        "sysctl": ("SysctlForbidden", {"securityContext": {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}}),
        "system": ("PodOSNotSupported", {"os": {"name": "windows"}}),
    }  # fmt: skip
    if not host_has_app_armor():
        confined = {"securityContext": {"appArmorProfile": {"type": "RuntimeDefault"}}}
        rejected["apparmor"] = ("AppArmor", confined)
    _, own = node.server.call("GET", f"/api/v1/nodes/{node.name}")
    if not (own["status"].get("features") or {}).get("supplementalGroupsPolicy"):
        strict = {"securityContext": {"supplementalGroupsPolicy": "Strict"}}
        rejected["groups"] = ("SupplementalGroupsPolicyNotSupported", strict)
    for name, (_, spec) in rejected.items():
        node.create(name, shell(FOREVER), **spec)
    for name, (reason, _) in rejected.items():
        pod = node.until_pod(name, phase("Failed"))
        assert pod["status"]["reason"] == reason
        _until_event(node, name, reason)
        node.delete(name)


def test_users_of_a_pods_own_or_none(node: Node) -> None:
    """With ``hostUsers: false`` root of the pod is nobody on the node; where that cannot be, nothing runs."""
    look = "cat /proc/self/uid_map; id; touch /v/file; ls -ln /v"
    volume: dict[str, Any] = {"volumes": [{"name": "v", "emptyDir": {}}]}
    mounts = [{"name": "v", "mountPath": "/v"}]
    for name in ("users", "others"):
        mounted = shell(look, volumeMounts=mounts)
        node.create(name, mounted, hostUsers=False, restartPolicy="Never", **volume)
    if _handler(node).get("userNamespaces"):
        first = set()
        for name in ("users", "others"):
            node.until_pod(name, phase("Succeeded"))
            words = _logs(node, name).text.split()
            assert words[0] == "0" and words[2] == "65536" and int(words[1]) % 65536 == 0
            assert "uid=0" in words[3]
            first.add(words[1])
        assert len(first) == 2 and "0" not in first
    else:
        refused = "can't set `spec.hostUsers: false`, runtime does not support user namespaces"
        message = f"Failed to create pod sandbox: {refused}"
        _until_event(node, "users", "FailedCreatePodSandBox", message)
        assert not container(node.pod("users") or {}).get("containerID")
    for name in ("users", "others"):
        node.delete(name)


def test_mounts_and_profiles_that_cannot_be_had(node: Node) -> None:
    mount = {"name": "v", "mountPath": "/v", "readOnly": True, "recursiveReadOnly": "Enabled"}
    node.create("below", shell(FOREVER, volumeMounts=[mount]), volumes=[{"name": "v", "emptyDir": {}}])
    absent = {"seccompProfile": {"type": "Localhost", "localhostProfile": "absent.json"}}
    node.create("profile", shell(FOREVER, securityContext=absent))
    handler = {"metadata": {"name": "elsewhere"}, "handler": "absent"}
    node.post("/apis/node.k8s.io/v1/runtimeclasses", handler)
    node.create("class", shell(FOREVER), runtimeClassName="elsewhere")
    _until_waits(node, "profile", "CreateContainerError")
    _until_event(node, "class", "FailedCreatePodSandBox", "absent")
    claims = [{"name": "device", "resourceClaimName": "gpu"}]
    node.create("device", shell(FOREVER), resourceClaims=claims)
    _until_event(node, "device", "FailedPrepareDynamicResources")
    if _handler(node).get("recursiveReadOnlyMounts"):
        node.until_ready("below")
    else:
        pod = _until_waits(node, "below", "CreateContainerConfigError")
        message = container(pod)["state"]["waiting"]["message"]
        assert message.endswith("but it is not supported by the runtime")
    for name in ("below", "profile", "class", "device"):
        node.delete(name)


def test_other_users_of_the_machine_read_no_secret_of_a_pod(node: Node) -> None:
    node.post("/api/v1/namespaces/default/secrets", {"metadata": {"name": "own"}, "stringData": {"pw": "x"}})
    volumes = [{"name": "v", "secret": {"secretName": "own"}}]
    node.create("secretive", shell(FOREVER, volumeMounts=[{"name": "v", "mountPath": "/v"}]), volumes=volumes)
    uid = node.until_ready("secretive")["metadata"]["uid"]
    path = node.directory / "kubelet" / "pods" / uid / "volumes" / "kubernetes.io~secret" / "v" / "pw"
    assert path.read_text() == "x"
    for file, user in ((path, 65534), (node.directory / "logs", 65534)):
        command = ["ls", "-l", str(file) + ("/" if file.is_dir() else "")]
        assert subprocess.run(command, user=user, group=user, extra_groups=[], capture_output=True).returncode
    node.delete("secretive")
