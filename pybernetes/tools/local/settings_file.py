"""The file that ``pyb up --config`` takes: what it may say, and the settings that this means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pybernetes.tools.local.settings import SettingsError

API_VERSION, KIND = "local.pybernetes.dev/v1alpha1", "Cluster"
# What a file given with --config may say, and the setting that it is.
FILE_FIELDS = {
    "nodes": "nodes",
    "hollow": "hollow",
    "zones": "zones",
    "hollowUsage": "hollow_usage",
    "metricsResolution": "metrics_resolution",
    "proxyMode": "proxy_mode",
    "cni": "cni",
    "hostNetwork": "host_network",
    "ipFamily": "ip_family",
    "encrypt": "encrypt",
    "audit": "audit",
    "clusterNetworkPolicy": "cluster_network_policy",
    "dns": "dns",
    "nodeLocalDNS": "node_local_dns",
    "gateway": "gateway",
    "podSubnet": "pod_range",
    "serviceSubnet": "service_range",
    "apiServerPort": "port",
    "apiServerArguments": "apiserver_arguments",
    "controllerManagerArguments": "controller_arguments",
    "kubeletArguments": "kubelet_arguments",
    "kubeProxyArguments": "proxy_arguments",
    "nodeGroups": "node_groups",
    "autoscaler": "autoscaler",
    "autoscalerArguments": "autoscaler_arguments",
    "denyServiceExternalIPs": "deny_external_ips",
    "registryMirrors": "registry_mirrors",
    "insecureRegistries": "insecure_registries",
    "runtimes": "runtimes",
    "controlPlanes": "control_planes",
    "etcd": "etcd",
    "loadBalancer": "load_balancer",
}


def read(path: Path) -> dict[str, Any]:
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
