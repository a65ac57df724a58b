"""What machines a cluster with several control planes has, and the address that they share: pure functions of its settings."""

from __future__ import annotations

import ipaddress
import secrets
import string
from collections.abc import Mapping
from typing import Any

from pybernetes.tools.load_balancer.haproxy import FORMS
from pybernetes.tools.load_balancer.plan import Plan, Server
from pybernetes.tools.local import settings as saved_settings
from pybernetes.tools.local.network import network
from pybernetes.tools.local.settings import CONTROL_PLANE, ETCD, NodeSettings, Settings, SettingsError

STORES = ("stacked", "external")
ETCD_MACHINES = 3
PORT = 8443
_VIRTUAL = 250  # of the machines' network: after those of machines
_MOST = 7
_LETTERS = string.ascii_letters + string.digits
# Settings that belong to the control plane in one process, and those which a machine of kubeadm's has no use for.
_OTHERS = (
    "hollow", "hollow_usage", "proxy_mode", "cni", "host_network", "encrypt", "audit", "cluster_network_policy", "autoscaler",
    "node_groups", "registry_mirrors", "insecure_registries", "runtimes", "deny_external_ips", "apiserver_arguments",
    "controller_arguments", "kubelet_arguments", "proxy_arguments", "autoscaler_arguments", "metrics_resolution", "port",
    "ip_family", "dns", "node_local_dns", "zones", "federation",
)  # fmt: skip


def decide(cluster: str, before: Settings, changes: Mapping[str, Any], new: bool) -> Settings:
    """Return the settings of a cluster with several control planes; SettingsError for what it cannot be."""
    for name in _OTHERS:
        if name in changes:
            flag = name.replace("_", "-")
            raise SettingsError(f"--{flag} is not for clusters with --control-planes: kubeadm installs them")
    asked = {name: changes[name] for name in ("control_planes", "etcd", "load_balancer") if name in changes}
    if not new:
        for name, value in asked.items():
            if getattr(before, name) != value:
                raise SettingsError(f"{name}: it is {getattr(before, name)!r} and cannot be changed")
        if changes.get("nodes", before.workers) != before.workers:
            raise SettingsError(f"the cluster has {before.workers} workers, which cannot be changed")
        return saved_settings.apply(cluster, before, {})
    result = saved_settings.apply(cluster, before, asked)
    result.etcd, result.load_balancer = result.etcd or STORES[0], result.load_balancer or "l4"
    if result.etcd == "embedded" and result.control_planes > 1:
        raise SettingsError(
            "--etcd embedded: the embedded store serves one API server alone; "
            "with several control planes it is stacked or external"
        )
    if result.etcd not in STORES:
        raise SettingsError(f"--etcd: {result.etcd!r} is none of {', '.join(STORES)}")
    if result.load_balancer not in FORMS:
        raise SettingsError(f"--load-balancer: {result.load_balancer!r} is none of {', '.join(FORMS)}")
    if not 1 <= result.control_planes <= _MOST:
        raise SettingsError(f"--control-planes: {result.control_planes} is not between 1 and {_MOST}")
    roles = [CONTROL_PLANE] * result.control_planes
    roles += [ETCD] * (ETCD_MACHINES if result.etcd == "external" else 0)
    roles += [""] * changes.get("nodes", 0)
    for role in roles:
        result.nodes.append(saved_settings.new_node(cluster, result.nodes, role=role))
    result.node_range = network.free_range(cluster)
    result.vrrp_password = "".join(secrets.choice(_LETTERS) for _ in range(8))
    result.address, result.port = str(ipaddress.ip_network(result.node_range)[_VIRTUAL]), PORT
    return result


def control_planes(settings: Settings) -> list[NodeSettings]:
    """Return the machines with API servers."""
    return [node for node in settings.nodes if node.role == CONTROL_PLANE]


def etcd_machines(settings: Settings) -> list[NodeSettings]:
    """Return the machines that have a member of etcd and nothing else."""
    return [node for node in settings.nodes if node.role == ETCD]


def plan(settings: Settings) -> Plan:
    """Return what the load balancers of a cluster are told."""
    servers = tuple(
        Server(node.name, network.node_addresses(settings, node.name)[0]) for node in control_planes(settings)
    )
    return Plan(settings.address, servers, settings.port, password=settings.vrrp_password)
