"""The static pod of a member of etcd. What its command line is called depends on its version."""

from __future__ import annotations

import re

from pybernetes.api.resource import Object
from pybernetes.tools.image import names as images
from pybernetes.tools.kubeadm import arguments
from pybernetes.tools.kubeadm.configuration import networks
from pybernetes.tools.kubeadm.locations import ETCD_CLIENT_PORT, ETCD_METRICS_PORT, ETCD_PEER_PORT
from pybernetes.tools.kubeadm.static_pods import PROBE_PORT, pod, probes, volume

_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")
_LIVEZ = (3, 5, 11)  # the first that has /livez and /readyz
_FEATURES = (3, 6, 0)  # the first that has feature gates


def client_url(address: str) -> str:
    """Return where clients reach a member."""
    return f"https://{networks.joined(address, ETCD_CLIENT_PORT)}"


def peer_url(address: str) -> str:
    """Return where the other members reach one."""
    return f"https://{networks.joined(address, ETCD_PEER_PORT)}"


def version(tag: str) -> tuple[int, ...]:
    """Return the version that an image's tag tells; that of upstream's own image if it tells none."""
    match = _VERSION.match(tag) or _VERSION.match(images.ETCD_VERSION)
    assert match is not None
    return tuple(int(part) for part in match.groups())


def command(cluster: Object, address: str, node: str, members: dict[str, str] | None = None) -> list[str]:
    """Return the command line of a member; ``members`` are those that are there already, with it, by name."""
    local, certificates = cluster["etcd"]["local"], cluster["certificatesDir"]
    loopback = "::1" if ":" in address else "127.0.0.1"
    flags = {
        "name": node,
        "listen-client-urls": f"{client_url(loopback)},{client_url(address)}",
        "advertise-client-urls": client_url(address),
        "listen-peer-urls": peer_url(address),
        "initial-advertise-peer-urls": peer_url(address),
        "data-dir": local["dataDir"],
        "cert-file": f"{certificates}/etcd/server.crt",
        "key-file": f"{certificates}/etcd/server.key",
        "trusted-ca-file": f"{certificates}/etcd/ca.crt",
        "client-cert-auth": "true",
        "peer-cert-file": f"{certificates}/etcd/peer.crt",
        "peer-key-file": f"{certificates}/etcd/peer.key",
        "peer-trusted-ca-file": f"{certificates}/etcd/ca.crt",
        "peer-client-cert-auth": "true",
        "snapshot-count": "10000",
        "listen-metrics-urls": f"http://{networks.joined(loopback, ETCD_METRICS_PORT)}",
    }
    if version(local.get("imageTag", "")) >= _FEATURES:
        flags |= {"feature-gates": "InitialCorruptCheck=true", "watch-progress-notify-interval": "5s"}
    else:
        flags |= {
            "experimental-initial-corrupt-check": "true",
            "experimental-watch-progress-notify-interval": "5s",
        }
    if members is None:
        flags["initial-cluster"] = f"{node}={peer_url(address)}"
    else:
        flags["initial-cluster"] = ",".join(f"{name}={url}" for name, url in members.items())
        flags["initial-cluster-state"] = "existing"
    return ["etcd", *arguments.command(flags, arguments.given(local.get("extraArgs")))]


def member(
    cluster: Object, address: str, node: str, timeout: str, members: dict[str, str] | None = None
) -> Object:
    """Return the static pod of a member."""
    local = cluster["etcd"]["local"]
    loopback = "::1" if ":" in address else "127.0.0.1"
    tag = local.get("imageTag", "")
    if version(tag) >= _LIVEZ:
        checks = probes(loopback, "/livez", "/readyz", "/readyz", "HTTP", timeout)
    else:
        checks = probes(
            loopback, "/health?exclude=NOSPACE&serializable=true", "/health?serializable=false",
            "/health?serializable=false", "HTTP", timeout,
        )  # fmt: skip
    volumes = [
        volume("etcd-data", local["dataDir"], "DirectoryOrCreate", read_only=False),
        volume("etcd-certs", f"{cluster['certificatesDir']}/etcd", "DirectoryOrCreate", read_only=False),
    ]
    container: Object = {
        "name": "etcd",
        "image": images.etcd(local.get("imageRepository") or cluster["imageRepository"], tag),
        "imagePullPolicy": "IfNotPresent",
        "command": command(cluster, address, node, members),
        "resources": {"requests": {"cpu": "100m", "memory": "100Mi"}},
        "ports": [{"name": PROBE_PORT, "containerPort": ETCD_METRICS_PORT, "protocol": "TCP"}],
        "volumeMounts": [mount for _, mount in volumes],
        **checks,
    }
    if local.get("extraEnvs"):
        container["env"] = local["extraEnvs"]
    annotations = {"kubeadm.kubernetes.io/etcd.advertise-client-urls": client_url(address)}
    return pod(container, (entry for entry, _ in volumes), annotations)
