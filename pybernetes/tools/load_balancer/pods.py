"""HAProxy and keepalived as static pods, for the manifests folder of a control-plane machine's kubelet."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.tools.kubeadm import static_pods
from pybernetes.tools.load_balancer import haproxy, keepalived
from pybernetes.tools.load_balancer.plan import Plan


def balancer(plan: Plan, form: str, image: str) -> Object:
    """Return the pod of HAProxy; it reads its configuration and the certificates that its form needs, and nothing else."""
    container: Object = {
        "name": "haproxy",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["haproxy", "-W", "-db", "-f", haproxy.CONFIGURATION],
        "resources": _share("32Mi"),
        # Root reads keys that are only root's; it needs none of root's powers for that.
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "livenessProbe": {
            "tcpSocket": {"host": "127.0.0.1", "port": plan.health_port},
            "failureThreshold": 3,
            "periodSeconds": 5,
        },
    }
    # Not their folder: the keys of authorities lie there too.
    files = [
        static_pods.volume(name.replace(".", "-"), f"{plan.certificates}/{name}", "File")
        for name in haproxy.FORMS[form].FILES
    ]
    return _pod(container, "/etc/haproxy", files)


def address(image: str) -> Object:
    """Return the pod of keepalived, which changes addresses of its machine and speaks VRRP."""
    container: Object = {
        "name": "keepalived",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        # Its files with process numbers end with the container: in a volume they would keep the next one from starting.
        "command": [
            "keepalived",
            "-n",
            "-l",
            "-P",
            "-f",
            keepalived.CONFIGURATION,
            "-p",
            "/keepalived.pid",
            "-r",
            "/vrrp.pid",
        ],
        "resources": _share("16Mi"),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            # The check runs as nobody.
            "capabilities": {
                "drop": ["ALL"],
                "add": ["NET_ADMIN", "NET_RAW", "NET_BROADCAST", "SETUID", "SETGID", "KILL"],
            },
        },
    }
    return _pod(container, "/etc/keepalived", [])


def _share(memory: str) -> Object:
    """Return what a container asks for: of a busy machine enough to answer in time, as etcd has it, though it mostly waits."""
    return {"requests": {"cpu": "100m", "memory": memory}}


def _pod(container: Object, configuration: str, files: list[tuple[Object, Object]]) -> Object:
    volumes = [static_pods.volume("configuration", configuration, "Directory"), *files]
    container["volumeMounts"] = [mount for _, mount in volumes]
    return static_pods.pod(container, (volume for volume, _ in volumes))
