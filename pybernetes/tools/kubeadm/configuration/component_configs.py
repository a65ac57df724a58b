"""Configurations of the kubelet and of kube-proxy: what kubeadm says where the user did not."""

from __future__ import annotations

import logging
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.tools.kubeadm.configuration import networks
from pybernetes.tools.kubeadm.locations import KUBELET_HEALTH_PORT, MANIFESTS

log = logging.getLogger(__name__)
KUBELET, PROXY = "KubeletConfiguration", "KubeProxyConfiguration"
_WHO_WINS = 'The recommended value for "%s" in "%s" is: %s; the provided value is: %s'


def completed(given: dict[str, Object], cluster: Object, advertise_address: str) -> dict[str, Object]:
    """Return both configurations, complete."""
    return {
        KUBELET: _overlaid(kubelet(cluster), given.get(KUBELET) or {}, KUBELET),
        PROXY: _overlaid(proxy(cluster, advertise_address), given.get(PROXY) or {}, PROXY),
    }


def kubelet(cluster: Object) -> Object:
    """Return the KubeletConfiguration of all nodes of a cluster."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": KUBELET,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": f"{cluster['certificatesDir']}/ca.crt"},
        },
        "authorization": {"mode": "Webhook"},
        "cgroupDriver": "systemd" if uses_systemd() else "cgroupfs",
        "clusterDNS": [networks.indexed(cluster["networking"]["serviceSubnet"], 10)],
        "clusterDomain": cluster["networking"]["dnsDomain"],
        "healthzBindAddress": "127.0.0.1",
        "healthzPort": KUBELET_HEALTH_PORT,
        "rotateCertificates": True,
        "staticPodPath": str(MANIFESTS),
        **_resolver(),
    }


def uses_systemd() -> bool:
    """Return whether systemd manages this machine, and so its control groups."""
    return Path("/run/systemd/system").is_dir()


def _resolver() -> Object:
    """Name the file that systemd-resolved keeps for programs that do not want its stub."""
    path = Path("/run/systemd/resolve/resolv.conf")
    return {"resolvConf": str(path)} if uses_systemd() and path.exists() else {}


def proxy(cluster: Object, advertise_address: str) -> Object:
    """Return the KubeProxyConfiguration of all nodes of a cluster."""
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": PROXY,
        "bindAddress": "::" if ":" in advertise_address else "0.0.0.0",
        "clientConnection": {"kubeconfig": "/var/lib/kube-proxy/kubeconfig.conf"},
        "clusterCIDR": cluster["networking"].get("podSubnet", ""),
        "mode": "iptables",
    }


def _overlaid(base: Object, over: Object, kind: str, path: str = "") -> Object:
    result = dict(base)
    for key, value in over.items():
        where = f"{path}{key}"
        before = result.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            result[key] = _overlaid(before, value, kind, f"{where}.")
            continue
        if before not in (None, value) and value is not None and key not in ("apiVersion", "kind"):
            log.warning(_WHO_WINS, where, kind, before, value)
        if value is not None:
            result[key] = value
    return result
