"""Where kubeadm keeps its files, and the numbers and names that all of Kubernetes' installations share."""

from __future__ import annotations

from pathlib import Path

from pybernetes import KUBERNETES_VERSION

KUBERNETES = Path("/etc/kubernetes")
MANIFESTS = KUBERNETES / "manifests"
TEMPORARY = KUBERNETES / "tmp"
KUBELET = Path("/var/lib/kubelet")
KUBELET_CONFIG = KUBELET / "config.yaml"
KUBELET_FLAGS = KUBELET / "kubeadm-flags.env"
ADMIN, SUPER_ADMIN = KUBERNETES / "admin.conf", KUBERNETES / "super-admin.conf"
KUBELET_CONF, KUBELET_BOOTSTRAP = KUBERNETES / "kubelet.conf", KUBERNETES / "bootstrap-kubelet.conf"

API_SERVER_PORT, KUBELET_PORT = 6443, 10250
CONTROLLER_MANAGER_PORT, SCHEDULER_PORT = 10257, 10259
ETCD_CLIENT_PORT, ETCD_PEER_PORT, ETCD_METRICS_PORT = 2379, 2380, 2381
KUBELET_HEALTH_PORT = 10248

NAMESPACE = "kube-system"
CONTROL_PLANE_LABEL = "node-role.kubernetes.io/control-plane"
EXCLUDE_LABEL = "node.kubernetes.io/exclude-from-external-load-balancers"
BOOTSTRAPPERS = "system:bootstrappers:kubeadm:default-node-token"
NODES = "system:nodes"
CLUSTER_ADMINS = "kubeadm:cluster-admins"
CERTS_SECRET = "kubeadm-certs"
CRI_SOCKET = "unix:///var/run/containerd/containerd.sock"

MAJOR, MINOR = (int(part) for part in KUBERNETES_VERSION.lstrip("v").split(".")[:2])
