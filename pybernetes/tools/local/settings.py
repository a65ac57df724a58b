"""What a local cluster was made with; saved with it, so that ``up`` brings the same one back."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from pybernetes.tools.local.network import ip_families
from pybernetes.tools.local.network.ip_families import IP_FAMILIES
from pybernetes.tools.local.paths import Cluster

NAME_SERVERS = ("built-in", "none")
NETWORKS = ("vxlan", "host-gw", "cloud", "none")
GROUP_LABEL = "pybernetes.dev/node-group"
CONTROL_PLANE, ETCD = "control-plane", "etcd"  # roles of machines that kubeadm installs
_LAST_NUMBER = 190  # of a node: the addresses after it are for load balancers


class SettingsError(ValueError):
    """A setting has an impossible value; the text names it."""


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """A node with real containers. ``number`` gives its address and never changes."""

    name: str
    number: int
    stopped: bool = False
    group: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    taints: list[str] = field(default_factory=list)
    paused: bool = False
    apart: list[str] = field(default_factory=list)  # what it is cut off from
    disk_operations: int = 0  # what its disk can do in a second; 0 for all that it can
    role: str = ""  # of a machine in a cluster with several control planes; empty for a worker


@dataclass(frozen=True, slots=True)
class HollowNode:
    """A hollow node of a group."""

    name: str
    group: str


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """A group of nodes that are alike: with real containers, or hollow."""

    name: str
    minimum: int = 0
    maximum: int = 10
    size: int = -1  # how many it begins with; -1 stands for the minimum
    hollow: bool = False
    labels: dict[str, str] = field(default_factory=dict)
    taints: list[str] = field(default_factory=list)  # KEY=VALUE:EFFECT
    resources: dict[str, str] = field(default_factory=dict)
    role: str = ""

    def all_labels(self) -> dict[str, str]:
        """Return the labels that its nodes give themselves; the role is given by an administrator."""
        return {GROUP_LABEL: self.name, **self.labels}


@dataclass(slots=True)
class Settings:
    """Everything that is known about a cluster before it runs."""

    address: str = "127.0.0.1"
    port: int = 0
    hollow: int = 0
    zones: int = 1  # in which nodes are by turns, unless a label says in which one is
    hollow_usage: str = ""  # file that says what pods on hollow nodes use; empty for our own
    metrics_resolution: int = 15  # seconds between two looks of metrics-server at the kubelets
    nodes: list[NodeSettings] = field(default_factory=list)
    node_groups: list[NodeGroup] = field(default_factory=list)
    hollow_nodes: list[HollowNode] = field(default_factory=list)  # those of groups
    ip_family: str = "ipv4"
    node_range: str = ""  # addresses of the nodes with real containers, which they have of IPv4 in any case
    node_range_v6: str = ""
    service_range: str = "10.96.0.0/16"
    pod_range: str = "10.244.0.0/16"
    proxy_mode: str = "iptables"
    cni: str = "vxlan"
    host_network: bool = False
    encrypt: bool = False  # secrets on the disk
    audit: bool = False
    cluster_network_policy: bool = False  # whether the kind is served
    dns: str = "built-in"
    node_local_dns: bool = False  # whether each node has a cache of names
    federation: bool = False  # whether the cluster is the host of a federation
    connected: list[str] = field(default_factory=list)  # clusters whose pods reach this one's
    gateway: bool = False  # whether Ingresses and Gateways are carried out
    dns_port: int = 0  # of the name server, where nodes reach it; 0 if there are no nodes
    paused: bool = False
    autoscaler: bool = False  # whether node groups grow and shrink by themselves
    cloud_port: int = 0  # at which the node groups are served to the autoscaler
    autoscaler_arguments: list[str] = field(default_factory=list)
    user: int = 0  # whose process the control plane is; 0 for whoever starts the cluster
    apiserver_arguments: list[str] = field(default_factory=list)
    controller_arguments: list[str] = field(default_factory=list)
    kubelet_arguments: list[str] = field(default_factory=list)
    proxy_arguments: list[str] = field(default_factory=list)
    deny_external_ips: bool = False
    registry_mirrors: list[str] = field(
        default_factory=list
    )  # REGISTRY=URL, tried before the registry itself
    insecure_registries: list[str] = field(default_factory=list)  # taken without TLS, or without verifying it
    runtimes: list[str] = field(default_factory=list)  # programs beside runc, each with a RuntimeClass
    control_planes: int = (
        0  # machines that kubeadm makes control planes; 0 for one in a process of this machine
    )
    etcd: str = ""  # where theirs is
    load_balancer: str = ""  # the form of what stands in front of them
    vrrp_password: str = ""  # by which they know one another when they hand their address on

    def node(self, name: str) -> NodeSettings:
        """Return the node with a name."""
        for node in self.nodes:
            if node.name == name:
                return node
        names = ", ".join(node.name for node in self.nodes) or "none with real containers"
        raise SettingsError(f"there is no node {name!r}; the nodes are: {names}")

    @property
    def node_ranges(self) -> tuple[str, ...]:
        """The ranges of the addresses that nodes are known by, in the order of the cluster's families."""
        by_version = {4: self.node_range, 6: self.node_range_v6}
        return tuple(by_version[version] for version in IP_FAMILIES[self.ip_family])

    @property
    def pod_ranges(self) -> tuple[str, ...]:
        """The ranges of pods, one for each family."""
        return tuple(self.pod_range.split(","))

    @property
    def service_ranges(self) -> tuple[str, ...]:
        """The ranges of services, one for each family."""
        return tuple(self.service_range.split(","))

    @property
    def has_real_nodes(self) -> bool:
        """Whether there are nodes with real containers, or may be."""
        return bool(self.nodes) or any(not group.hollow for group in self.node_groups)

    @property
    def workers(self) -> int:
        """How many machines run pods alone, in a cluster with several control planes."""
        return sum(not node.role for node in self.nodes)

    @property
    def cloud_routes(self) -> bool:
        """Whether the local cloud makes the routes between nodes."""
        return self.cni == "cloud" and not self.host_network

    def group(self, name: str) -> NodeGroup:
        """Return the group with a name."""
        for group in self.node_groups:
            if group.name == name:
                return group
        names = ", ".join(group.name for group in self.node_groups) or "none"
        raise SettingsError(f"there is no node group {name!r}; the groups are: {names}")

    def members(self, group: NodeGroup) -> list[str]:
        """Return the names of a group's nodes, the oldest first."""
        nodes: list[NodeSettings] | list[HollowNode] = self.hollow_nodes if group.hollow else self.nodes
        return [node.name for node in nodes if node.group == group.name]

    def registration(self, node: NodeSettings) -> tuple[dict[str, str], list[str], dict[str, str]]:
        """Return the labels and taints that a node registers itself with, and the resources that it is to have."""
        if not node.group:
            return node.labels, node.taints, {}
        group = self.group(node.group)
        return {**group.all_labels(), **node.labels}, [*group.taints, *node.taints], group.resources

    def change(self, node: NodeSettings, **changes: Any) -> None:
        """Replace a node by a changed one."""
        self.nodes[self.nodes.index(node)] = replace(node, **changes)


def load(cluster: Cluster) -> Settings:
    """Return the settings of a cluster; those of a new one if its first ``up`` was interrupted before it saved any.

    SettingsError if they are none, or those of a version that knows more.
    """
    try:
        saved = json.loads(cluster.settings.read_text())
        for key, kind in (("nodes", NodeSettings), ("node_groups", NodeGroup), ("hollow_nodes", HollowNode)):
            saved[key] = [_made(kind, entry) for entry in saved.get(key, ())]
        result: Settings = _made(Settings, saved)
    except FileNotFoundError:
        return Settings()
    except (AttributeError, TypeError, ValueError) as error:
        raise SettingsError(f"{cluster.settings}: {error}") from None
    return result


def _made(kind: Any, entry: dict[str, Any]) -> Any:
    """Return what was saved of a kind of settings."""
    unknown = sorted(entry.keys() - {setting.name for setting in fields(kind)})
    if unknown:
        raise SettingsError(
            f"this version does not know the setting {unknown[0]!r}: a newer one made the cluster"
        )
    return kind(**entry)


def save(cluster: Cluster, settings: Settings) -> None:
    """Write the settings, all or nothing; the group of the cluster's folder, which is the control plane's, reads them."""
    from pybernetes.lib.tls import tls  # here and not above: the host helper only reads, and is to stay small

    tls.write_atomically(
        cluster.settings, json.dumps(asdict(settings), indent=2).encode(), 0o640 if settings.user else 0o600
    )


def node_name(cluster: str, number: int) -> str:
    """Return the name of a node with real containers, counted from 0."""
    return cluster if number == 0 else f"{cluster}-{number + 1}"


def new_node(cluster: str, existing: list[NodeSettings], **more: Any) -> NodeSettings:
    """Return a node with the lowest free number; SettingsError if the cluster's network has no address for it."""
    taken = {node.number for node in existing}
    number = next(number for number in range(len(taken) + 1) if number not in taken)
    if number > _LAST_NUMBER:
        raise SettingsError(f"a cluster has room for {_LAST_NUMBER + 1} nodes with real containers")
    return NodeSettings(node_name(cluster, number), number, **more)


def with_nodes(cluster: str, existing: list[NodeSettings], count: int) -> list[NodeSettings]:
    """Return a number of nodes: those that exist, then new ones with the lowest free numbers."""
    result = list(existing)
    while len(result) < count:
        result.append(new_node(cluster, result))
    return result


def apply(cluster: str, settings: Settings, changes: Mapping[str, Any]) -> Settings:
    """Return the settings with changes from a command line or a file; SettingsError if they are impossible."""
    result = replace(settings)
    kinds = {setting.name: type(getattr(Settings(), setting.name)) for setting in fields(Settings)}
    for key, value in changes.items():
        kind = int if key == "nodes" else kinds[key]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise SettingsError(f"{key}: {value!r} is not a {kind.__name__}")
        if kind is int and not 0 <= value <= 65535:
            raise SettingsError(f"{key}: {value} is out of range")
        if key == "node_groups":
            from pybernetes.tools.local.nodes import node_group

            value = node_group.merged(settings.node_groups, changes[key])
        if key == "nodes":
            if value < len(settings.nodes):
                raise SettingsError(
                    f"the cluster has {len(settings.nodes)} nodes already; pyb node rm takes one away"
                )
            value = with_nodes(cluster, settings.nodes, value)
        setattr(result, key, value)
    for name in ("etcd", "load_balancer"):
        if getattr(result, name) and not result.control_planes:
            raise SettingsError(f"--{name.replace('_', '-')} goes with --control-planes")
    from pybernetes.node.proxy.config import mode_names

    modes = (*mode_names(), "none")
    if result.proxy_mode not in modes:
        raise SettingsError(f"the proxy mode {result.proxy_mode!r} is none of {', '.join(modes)}")
    for name in ("metrics_resolution", "zones"):
        if getattr(result, name) < 1:
            raise SettingsError(f"{name}: {getattr(result, name)} is out of range")
    if result.cni not in NETWORKS:
        raise SettingsError(f"the network {result.cni!r} is none of {', '.join(NETWORKS)}")
    if result.dns not in NAME_SERVERS:
        raise SettingsError(f"the name server {result.dns!r} is none of {', '.join(NAME_SERVERS)}")
    if result.node_local_dns and (
        result.host_network or result.ip_family == "ipv6" or result.proxy_mode == "none"
    ):
        raise SettingsError(
            "a cache of names on each node needs nodes with networks of their own, IPv4 and a proxy of services"
        )
    _check_ranges(settings, result)
    _complete_families(cluster, settings, result)
    if "node_groups" in changes:
        result = node_group.resized(cluster, result)
    _check_runtime_settings(result)
    if result.host_network and len(result.nodes) != 1:
        raise SettingsError("on the host's network there is room for one node only")
    return result


def _check_ranges(before: Settings, settings: Settings) -> None:
    """Raise SettingsError for ranges of addresses that are none, or that a cluster cannot change to any more."""
    for name, own, wanted in (
        ("pods", before.pod_range, settings.pod_range),
        ("services", before.service_range, settings.service_range),
    ):
        if before.port and own != wanted and own.split(",")[0] != wanted:
            raise SettingsError(f"the {name} of the cluster are in {own}, which stays; make another one")
        for text in wanted.split(","):
            try:
                ipaddress.ip_network(text)
            except ValueError as error:
                raise SettingsError(f"the range of {name}: {error}") from None


def _complete_families(cluster: str, before: Settings, settings: Settings) -> None:
    """Give the ranges of pods and services both families, if the cluster is to have both."""
    family = settings.ip_family
    if family not in IP_FAMILIES:
        raise SettingsError(f"the IP family {family!r} is none of {', '.join(IP_FAMILIES)}")
    if before.port and before.ip_family != family:
        raise SettingsError(
            f"the cluster has the IP family {before.ip_family}, which stays; make another one"
        )
    if family == "ipv4":
        return
    if settings.host_network:
        raise SettingsError("a node on the host's own network has IPv4 only")
    if settings.cni == "cloud":
        raise SettingsError("the routes of the local cloud are of IPv4 only; use vxlan or host-gw")
    if family == "ipv6" and (settings.hollow or any(group.hollow for group in settings.node_groups)):
        raise SettingsError("hollow nodes have IPv4 only")
    usual = Settings()
    try:
        settings.pod_range = ip_families.completed(
            settings.pod_range, family, ip_families.pod_range(cluster), usual.pod_range
        )
        settings.service_range = ip_families.completed(
            settings.service_range, family, ip_families.service_range(cluster), usual.service_range
        )
    except ValueError as error:
        raise SettingsError(str(error)) from None
    settings.node_range_v6 = settings.node_range_v6 or ip_families.node_range(cluster)


def _check_runtime_settings(settings: Settings) -> None:
    """Raise SettingsError for registries and runtimes that containerd could not use."""
    from pybernetes.node.containerd import registries, runtimes

    try:
        registries.files(settings.registry_mirrors, settings.insecure_registries)
        for name in settings.runtimes:
            runtimes.check(name)
    except (TypeError, ValueError) as error:
        raise SettingsError(str(error)) from None
