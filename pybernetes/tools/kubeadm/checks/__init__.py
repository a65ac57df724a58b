"""Checks of a machine before anything is changed on it, with upstream's names."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.api.validation import names
from pybernetes.tools.kubeadm.checks.check import Check, run
from pybernetes.tools.kubeadm.checks.files import DirAvailable, FileAvailable, FileExisting, InPath, IpForward
from pybernetes.tools.kubeadm.checks.machine import (
    ContainerRuntime,
    Hostname,
    IsPrivilegedUser,
    Mem,
    NumCPU,
    Swap,
    SystemVerification,
)
from pybernetes.tools.kubeadm.checks.ports import PortOpen
from pybernetes.tools.kubeadm.checks.proxies import HTTPProxy, HTTPProxyCIDR
from pybernetes.tools.kubeadm.checks.services import Firewalld, KubeletService
from pybernetes.tools.kubeadm.checks.versions import (
    ContainerRuntimeVersion,
    ExternalEtcdVersion,
    KubeletVersion,
    KubernetesVersion,
)
from pybernetes.tools.kubeadm.configuration import arguments_of, networks
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

__all__ = ["Check", "control_plane_checks", "join_checks", "run", "run_as_root"]
# Nodes of this kubelet route with ip and iptables.
_PROGRAMS = (("losetup", True), ("mount", True), ("cp", True), ("ip", False), ("iptables", False))
_MANIFESTS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd")


async def run_as_root(checks: Iterable[Check], ignored: frozenset[str]) -> None:
    """Run checks after the one that it is root who asks, without whom others mean nothing."""
    await run([IsPrivilegedUser()], ignored)
    await run(checks, ignored)


def _common(registration: Object, version: str) -> list[Check]:
    return [
        ContainerRuntime(registration["criSocket"]),
        ContainerRuntimeVersion(registration["criSocket"]),
        Swap(),
        *(InPath(program, mandatory) for program, mandatory in _PROGRAMS),
        SystemVerification(),
        Hostname(registration["name"]),
        KubeletVersion(version),
        KubeletService(),
        PortOpen(KUBELET_PORT),
    ]


def control_plane_checks(
    settings: InitSettings, *, secondary: bool = False, downloads: bool = False
) -> list[Check]:
    """Return the checks of a machine that becomes a control plane.

    A secondary one passed those of all nodes already, and perhaps downloads the certificates of an external etcd.
    """
    cluster, endpoint = settings.cluster, settings.init["localAPIEndpoint"]
    networking = cluster["networking"]
    ranges = [*networking["serviceSubnet"].split(","), *networking.get("podSubnet", "").split(",")]
    checks: list[Check] = [
        NumCPU(),
        Mem(),
        KubernetesVersion(cluster["kubernetesVersion"]),
        Firewalld(endpoint["bindPort"], KUBELET_PORT),
        PortOpen(endpoint["bindPort"], arguments_of(cluster, "apiServer", "bind-address")),
        PortOpen(SCHEDULER_PORT, arguments_of(cluster, "scheduler", "bind-address")),
        PortOpen(CONTROLLER_MANAGER_PORT, arguments_of(cluster, "controllerManager", "bind-address")),
        *(FileAvailable(MANIFESTS / f"{component}.yaml") for component in _MANIFESTS),
        HTTPProxy(endpoint["advertiseAddress"]),
        *(HTTPProxyCIDR(network) for network in ranges),
    ]
    local, external = cluster["etcd"].get("local"), cluster["etcd"].get("external")
    if not secondary:
        checks += _common(settings.init["nodeRegistration"], cluster["kubernetesVersion"])
        checks += _forwarding([*ranges, endpoint["advertiseAddress"]])
        if external is not None:
            checks.append(ExternalEtcdVersion(external))
    if local is not None:
        address = arguments_of(cluster, "apiServer", "advertise-address") or endpoint["advertiseAddress"]
        checks += [
            PortOpen(ETCD_CLIENT_PORT, address),
            PortOpen(ETCD_PEER_PORT, address),
            DirAvailable(local["dataDir"]),
        ]
    if external is not None and not (secondary and downloads):
        checks += [
            FileExisting(external[name], "ExternalEtcdClientCertificates")
            for name in ("caFile", "certFile", "keyFile")
            if external.get(name)
        ]
    return checks


def _forwarding(addresses: Iterable[str]) -> Iterable[Check]:
    families = {6 if ":" in address else 4 for address in addresses if address}
    return [IpForward(family) for family in sorted(families)]


def join_checks(configuration: Object) -> list[Check]:
    """Return the checks of a machine that joins."""
    checks: list[Check] = [
        FileAvailable(KUBELET_CONF),
        FileAvailable(KUBELET_BOOTSTRAP),
        *_common(configuration["nodeRegistration"], ""),
    ]
    if configuration.get("controlPlane") is None:
        checks.append(FileAvailable(configuration["caCertPath"]))
    bootstrap = configuration["discovery"].get("bootstrapToken") or {}
    parsed = networks.host_port(bootstrap.get("apiServerEndpoint", ""))
    if parsed is not None:
        checks.append(HTTPProxy(parsed[0]))
        checks += _forwarding([parsed[0]] if not names.ip_address(parsed[0]) else [])
    return checks
