"""Checks of a machine before anything is changed on it, with upstream's names."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.tools.kubeadm.checks.check import Check, run
from pybernetes.tools.kubeadm.checks.files import DirAvailable, FileAvailable, FileExisting, InPath, IpForward
from pybernetes.tools.kubeadm.checks.machine import (
    ContainerRuntime,
    Hostname,
    IsPrivilegedUser,
    KubernetesVersion,
    Mem,
    NumCPU,
    Swap,
    SystemVerification,
)
from pybernetes.tools.kubeadm.checks.ports import PortOpen
from pybernetes.tools.kubeadm.configuration import arguments_of
from pybernetes.tools.kubeadm.configuration.loading import InitSettings, Object
from pybernetes.tools.kubeadm.locations import (
    CONTROLLER_MANAGER_PORT,
    ETCD_CLIENT_PORT,
    ETCD_PEER_PORT,
    KUBELET_BOOTSTRAP,
    KUBELET_CONF,
    KUBELET_PORT,
    MANIFESTS,
    SCHEDULER_PORT,
)

__all__ = ["Check", "control_plane_checks", "join_checks", "run"]
_PROGRAMS = (
    ("losetup", False), ("mount", True), ("cp", True), ("ethtool", False), ("ip", False), ("iptables", False), ("tc", False),
)  # fmt: skip


def _common(registration: Object) -> list[Check]:
    return [
        ContainerRuntime(registration["criSocket"]),
        *(
            InPath(program, mandatory)
            for program, mandatory in _PROGRAMS
            if program not in ("losetup", "tc", "ethtool")
        ),
        SystemVerification(),
        Hostname(registration["name"]),
        PortOpen(KUBELET_PORT),
        Swap(),
    ]


def control_plane_checks(settings: InitSettings, *, secondary: bool = False) -> list[Check]:
    """Return the checks of a machine that becomes a control plane; a secondary one passed those of all nodes already."""
    cluster, endpoint = settings.cluster, settings.init["localAPIEndpoint"]
    checks: list[Check] = [] if secondary else [IsPrivilegedUser()]
    checks += [
        NumCPU(),
        Mem(),
        KubernetesVersion(cluster["kubernetesVersion"]),
        PortOpen(endpoint["bindPort"], arguments_of(cluster, "apiServer", "bind-address")),
        PortOpen(SCHEDULER_PORT, arguments_of(cluster, "scheduler", "bind-address")),
        PortOpen(CONTROLLER_MANAGER_PORT, arguments_of(cluster, "controllerManager", "bind-address")),
        *(FileAvailable(MANIFESTS / f"{component}.yaml") for component in _MANIFESTS),
    ]
    if not secondary:
        checks += [*_common(settings.init["nodeRegistration"]), *_forwarding(cluster)]
    local, external = cluster["etcd"].get("local"), cluster["etcd"].get("external")
    if local is not None:
        address = endpoint["advertiseAddress"]
        checks += [
            PortOpen(ETCD_CLIENT_PORT, address),
            PortOpen(ETCD_PEER_PORT, address),
            DirAvailable(local["dataDir"]),
        ]
    for name in ("caFile", "certFile", "keyFile"):
        if external is not None and external.get(name):
            checks.append(FileExisting(external[name], "ExternalEtcdClientCertificates"))
    return checks


_MANIFESTS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd")


def _forwarding(cluster: Object) -> Iterable[Check]:
    ranges = f"{cluster['networking']['serviceSubnet']},{cluster['networking'].get('podSubnet', '')}"
    families = {6 if ":" in part else 4 for part in ranges.split(",") if part}
    return [IpForward(family) for family in sorted(families)]


def join_checks(configuration: Object) -> list[Check]:
    """Return the checks of a machine that joins."""
    checks: list[Check] = [
        IsPrivilegedUser(),
        FileAvailable(KUBELET_CONF),
        FileAvailable(KUBELET_BOOTSTRAP),
        *_common(configuration["nodeRegistration"]),
    ]
    if configuration.get("controlPlane") is None:
        checks += [DirAvailable(str(MANIFESTS)), FileAvailable(configuration["caCertPath"])]
    return [*checks, IpForward(4)]
