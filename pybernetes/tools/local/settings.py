"""What a local cluster was made with; saved with it, so that ``up`` brings the same one back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from pybernetes.tools.local.paths import Cluster

NETWORKS = ("vxlan", "host-gw", "none")
API_VERSION, KIND = "local.pybernetes.dev/v1alpha1", "Cluster"
# What a file given with --config may say, and the setting that it is.
FILE_FIELDS = {
    "nodes": "nodes",
    "hollow": "hollow",
    "proxyMode": "proxy_mode",
    "cni": "cni",
    "hostNetwork": "host_network",
    "podSubnet": "pod_range",
    "serviceSubnet": "service_range",
    "apiServerPort": "port",
    "apiServerArguments": "apiserver_arguments",
    "controllerManagerArguments": "controller_arguments",
    "kubeletArguments": "kubelet_arguments",
}


class SettingsError(ValueError):
    """A setting has an impossible value; the text names it."""


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """A node with real containers. ``number`` gives its address and never changes."""

    name: str
    number: int
    stopped: bool = False


@dataclass(slots=True)
class Settings:
    """Everything that is known about a cluster before it runs."""

    address: str = "127.0.0.1"
    port: int = 0
    hollow: int = 0
    nodes: list[NodeSettings] = field(default_factory=list)
    node_range: str = ""  # addresses of the nodes with real containers
    service_range: str = "10.96.0.0/16"
    pod_range: str = "10.244.0.0/16"
    proxy_mode: str = "iptables"
    cni: str = "vxlan"
    host_network: bool = False
    dns_port: int = 0  # of the name server, where nodes reach it; 0 if there are no nodes
    paused: bool = False
    user: int = 0  # whose process the control plane is; 0 for whoever starts the cluster
    apiserver_arguments: list[str] = field(default_factory=list)
    controller_arguments: list[str] = field(default_factory=list)
    kubelet_arguments: list[str] = field(default_factory=list)

    def node(self, name: str) -> NodeSettings:
        """Return the node with a name."""
        for node in self.nodes:
            if node.name == name:
                return node
        names = ", ".join(node.name for node in self.nodes) or "none with real containers"
        raise SettingsError(f"there is no node {name!r}; the nodes are: {names}")

    def change(self, node: NodeSettings, **changes: Any) -> None:
        """Replace a node by a changed one."""
        self.nodes[self.nodes.index(node)] = replace(node, **changes)


def load(cluster: Cluster) -> Settings:
    """Return the settings of a cluster; those of a new one if its first ``up`` was interrupted before it saved any."""
    try:
        fields = json.loads(cluster.settings.read_text())
    except FileNotFoundError:
        return Settings()
    fields["nodes"] = [NodeSettings(**node) for node in fields["nodes"]]
    return Settings(**fields)


def save(cluster: Cluster, settings: Settings) -> None:
    """Write the settings, all or nothing; the group of the cluster's folder, which is the control plane's, reads them."""
    from pybernetes.lib import tls  # here and not above: the host helper only reads, and is to stay small

    tls.write_atomically(
        cluster.settings, json.dumps(asdict(settings), indent=2).encode(), 0o640 if settings.user else 0o600
    )


def node_name(cluster: str, number: int) -> str:
    """Return the name of a node with real containers, counted from 0."""
    return cluster if number == 0 else f"{cluster}-{number + 1}"


def with_nodes(cluster: str, existing: list[NodeSettings], count: int) -> list[NodeSettings]:
    """Return a number of nodes: those that exist, then new ones with the lowest free numbers."""
    result, number = list(existing), 0
    while len(result) < count:
        if all(node.number != number for node in result):
            result.append(NodeSettings(node_name(cluster, number), number))
        number += 1
    return result


def from_file(path: Path) -> dict[str, Any]:
    """Return the settings of a file, under the names that they have here."""
    import yaml

    try:
        fields_by_name = yaml.safe_load(path.read_text()) or {}
    except (OSError, yaml.YAMLError) as error:
        raise SettingsError(f"{path}: {error}") from None
    if not isinstance(fields_by_name, dict) or (
        fields_by_name.pop("apiVersion", None),
        fields_by_name.pop("kind", None),
    ) != (
        API_VERSION,
        KIND,
    ):
        raise SettingsError(f"{path}: this is not a {KIND} of {API_VERSION}")
    unknown = sorted(set(fields_by_name) - set(FILE_FIELDS))
    if unknown:
        names = ", ".join(FILE_FIELDS)
        raise SettingsError(f"{path}: unknown field {unknown[0]!r}; the fields are {names}")
    return {FILE_FIELDS[key]: value for key, value in fields_by_name.items()}


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
        if key == "nodes":
            if value < len(settings.nodes):
                raise SettingsError(
                    f"the cluster has {len(settings.nodes)} nodes already; pyb node rm takes one away"
                )
            value = with_nodes(cluster, settings.nodes, value)
        setattr(result, key, value)
    from pybernetes.node.proxy.config import mode_names

    modes = (*mode_names(), "none")
    if result.proxy_mode not in modes:
        raise SettingsError(f"the proxy mode {result.proxy_mode!r} is none of {', '.join(modes)}")
    if result.cni not in NETWORKS:
        raise SettingsError(f"the network {result.cni!r} is none of {', '.join(NETWORKS)}")
    if result.host_network and len(result.nodes) != 1:
        raise SettingsError("on the host's network there is room for one node only")
    return result
