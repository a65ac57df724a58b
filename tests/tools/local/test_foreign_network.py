"""A network of somebody else's, as their manifests bring it: a DaemonSet writes plugins and configuration into the node.

And a power cut: what such a DaemonSet wrote is on the node's disk, so the node comes back with it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pybernetes.lib import oci
from pybernetes.node.containerd.requirements import cni_plugins
from pybernetes.tools.local.nodes.node import Node
from pybernetes.tools.local.paths import Cluster
from tests.node.kubelet.real_node import IMAGE, busybox
from tests.support import require_program, require_root
from tests.tools.local.user import User

pytestmark = [pytest.mark.slow, pytest.mark.e2e]
NAME = f"foreign-{os.getpid()}"
INSTALLER = "docker.io/library/foreign-network:1"
NOT_READY = (
    "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady "
    "message:Network plugin returns error: cni plugin not initialized"
)
CONFIGURATION = {
    "cniVersion": "0.4.0",
    "name": "foreign",
    "plugins": [
        {
            "type": "foreign-bridge",
            "bridge": "foreign0",
            "isGateway": True,
            "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.244.77.0/24"}]]},
        }
    ],
}


def installer() -> bytes:
    """Return an image with Debian's bridge plugin under a name that no node has by itself."""
    plugins = cni_plugins()
    assert plugins is not None
    files = {
        "bin/busybox": oci.File(Path(require_program("busybox")).read_bytes(), 0o755),
        "bin/sh": oci.File(link="busybox"),
        "plugins/foreign-bridge": oci.File((plugins / "bridge").read_bytes(), 0o755),
        "net.d/20-foreign.conflist": oci.File(json.dumps(CONFIGURATION).encode()),
    }
    return oci.archive(INSTALLER, oci.layer(files), oci.Process(command=("/bin/sh",)))


def daemon_set() -> dict[str, Any]:
    """Return what manifests of networks have: the host's network and folders, every toleration, all privileges."""
    folders = {"plugins": "/opt/cni/bin", "configuration": "/etc/cni/net.d"}
    mounts = [{"name": name, "mountPath": f"/host{path}"} for name, path in folders.items()]
    copy = "busybox cp /plugins/* /host/opt/cni/bin/ && busybox cp /net.d/* /host/etc/cni/net.d/"
    base = {"image": INSTALLER, "imagePullPolicy": "Never", "securityContext": {"privileged": True}}
    spec = {
        "hostNetwork": True,
        "tolerations": [{"operator": "Exists"}],
        "terminationGracePeriodSeconds": 1,
        "priorityClassName": "system-node-critical",
        "initContainers": [
            {**base, "name": "install", "command": ["/bin/sh", "-c", copy], "volumeMounts": mounts}
        ],
        "containers": [{**base, "name": "agent", "command": ["/bin/sh", "-c", "exec busybox sleep 100000"]}],
        "volumes": [
            {"name": name, "hostPath": {"path": path, "type": "DirectoryOrCreate"}}
            for name, path in folders.items()
        ],
    }
    labels = {"app": "foreign"}
    template = {"metadata": {"labels": labels}, "spec": spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "foreign", "namespace": "kube-system"},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }


def test_a_daemon_set_brings_the_network(tmp_path: Path) -> None:
    require_root()
    for program in ("kubectl", "containerd", "busybox", "nsenter"):
        require_program(program)
    user = User(tmp_path)
    reason = 'jsonpath={.status.conditions[?(@.type=="Ready")].message}'
    message = ("get", "node", NAME, "--ignore-not-found", "-o", reason)
    try:
        user.pyb("up", NAME, "--cni", "none")
        user.until(NOT_READY, *message)
        for name, archive in {"installer": installer(), "busybox": busybox()}.items():
            (tmp_path / f"{name}.tar").write_bytes(archive)
            user.pyb("image", "load", str(tmp_path / f"{name}.tar"))
        (tmp_path / "foreign.json").write_text(json.dumps(daemon_set()))
        user.kubectl("apply", "-f", str(tmp_path / "foreign.json"))
        user.kubectl("wait", "--for=condition=Ready", f"node/{NAME}", "--timeout=90s")
        user.kubectl("run", "pod", f"--image={IMAGE}", "--image-pull-policy=Never", "--", "sleep", "100000")
        user.kubectl("wait", "--for=condition=Ready", "pod/pod", "--timeout=60s")
        assert user.kubectl("get", "pod", "pod", "-o", "jsonpath={.status.podIP}").startswith("10.244.77.")
        assert not Path("/etc/cni/net.d/20-foreign.conflist").exists()

        machine = Node(Cluster(NAME, Path(user.environment["PYBERNETES_HOME"])), NAME).machine
        assert "foreign0" in user.pyb("node", "shell", NAME, "--", "ip", "-brief", "link")
        user.pyb("node", "stop", NAME)
        assert not machine.exists and machine.processes() == set()
        assert f"{NAME} (stopped)" in user.pyb("status")
        user.pyb("node", "start", NAME)
        started = ("get", "pod", "pod", "-o", "jsonpath={.status.containerStatuses[0].restartCount}")
        user.until("1", *started)
        user.kubectl("wait", "--for=condition=Ready", "pod/pod", "--timeout=90s")
    finally:
        user.pyb("delete", NAME)
