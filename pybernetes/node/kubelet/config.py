"""How a kubelet is set up: KubeletConfiguration v1beta1, with flags over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pybernetes.lib.flags import duration

Fields = dict[str, Any]
API_VERSION = "kubelet.config.k8s.io/v1beta1"

# Upstream's defaults of what is looked at here.
DEFAULTS: Fields = {
    "address": "0.0.0.0",
    "port": 10250,
    "readOnlyPort": 0,
    "healthzPort": 10248,
    "healthzBindAddress": "127.0.0.1",
    "staticPodPath": "",
    "syncFrequency": "1m0s",
    "fileCheckFrequency": "20s",
    "registerNode": True,
    "registerWithTaints": [],
    "nodeStatusUpdateFrequency": "10s",
    "nodeStatusReportFrequency": "5m0s",
    "nodeLeaseDurationSeconds": 40,
    "clusterDomain": "cluster.local",
    "clusterDNS": [],
    "resolvConf": "/etc/resolv.conf",
    "maxPods": 110,
    "podPidsLimit": -1,
    "podCIDR": "",
    "cgroupDriver": "cgroupfs",
    "cgroupRoot": "/",
    "cgroupsPerQOS": True,
    "cpuCFSQuota": True,
    "cpuCFSQuotaPeriod": "100ms",
    "seccompDefault": False,
    "failSwapOn": True,
    "serializeImagePulls": True,
    "maxParallelImagePulls": 0,
    "imageGCHighThresholdPercent": 85,
    "imageGCLowThresholdPercent": 80,
    "imageMinimumGCAge": "2m0s",
    "imageMaximumGCAge": "0s",
    "containerLogMaxSize": "10Mi",
    "containerLogMaxFiles": 5,
    "containerLogMonitorInterval": "10s",
    "containerLogMaxWorkers": 1,
    "evictionSoft": {},
    "evictionSoftGracePeriod": {},
    "evictionMinimumReclaim": {},
    "evictionPressureTransitionPeriod": "5m0s",
    "evictionMaxPodGracePeriod": 0,
    "localStorageCapacityIsolation": True,
    "enforceNodeAllocatable": ["pods"],
    "evictionHard": {
        "memory.available": "100Mi",
        "nodefs.available": "10%",
        "nodefs.inodesFree": "5%",
        "imagefs.available": "15%",
        "imagefs.inodesFree": "5%",
    },
    "systemReserved": {},
    "kubeReserved": {},
    "allowedUnsafeSysctls": [],
    "rotateCertificates": False,
    "serverTLSBootstrap": False,
    "tlsCertFile": "",
    "tlsPrivateKeyFile": "",
    "authentication": {
        "anonymous": {"enabled": False},
        "webhook": {"enabled": True, "cacheTTL": "2m0s"},
        "x509": {"clientCAFile": ""},
    },
    "authorization": {
        "mode": "Webhook",
        "webhook": {"cacheAuthorizedTTL": "5m0s", "cacheUnauthorizedTTL": "30s"},
    },
    "enableDebuggingHandlers": True,
    "enableServer": True,
    "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
    "imageServiceEndpoint": "",
    "podLogsDir": "/var/log/pods",
    "crashLoopBackOff": {},
    "shutdownGracePeriod": "0s",
    "shutdownGracePeriodCriticalPods": "0s",
    "featureGates": {},
    "enableControllerAttachDetach": True,
    "logging": {},
}
_DURATIONS = ("syncFrequency", "fileCheckFrequency", "nodeStatusUpdateFrequency", "nodeStatusReportFrequency",
              "cpuCFSQuotaPeriod", "imageMinimumGCAge", "shutdownGracePeriod", "shutdownGracePeriodCriticalPods")  # fmt: skip


class ConfigurationError(ValueError):
    """The configuration says something impossible or unknown."""


@dataclass(slots=True)
class Options:
    """Everything that a kubelet needs to know to run."""

    node_name: str
    root: Path = Path("/var/lib/kubelet")
    configuration: Fields = field(default_factory=lambda: merged({}))
    node_ips: tuple[str, ...] = ()
    node_labels: Mapping[str, str] = field(default_factory=dict)
    hostname: str = ""
    provider_id: str = ""
    cloud_provider: str = ""
    cni_configuration: Path | None = None  # where to write the CNI configuration; None leaves it to others
    certificates: Path | None = None
    housekeeping: float = 10.0  # seconds between two looks at what the node has left
    capacity: Mapping[str, str] = field(default_factory=dict)  # what the machine has, where it is to be told

    def seconds(self, name: str) -> float:
        """A duration of the configuration."""
        return float(duration(self.configuration[name]))


def merged(given: Fields) -> Fields:
    """A configuration with its defaults; what upstream knows and this kubelet has no use for is kept."""
    result = {**DEFAULTS}
    for key, value in given.items():
        if value is None:
            continue
        if key in ("authentication", "authorization"):
            value = {part: {**DEFAULTS[key].get(part, {}), **each} if isinstance(each, dict) else each
                     for part, each in {**DEFAULTS[key], **value}.items()}  # fmt: skip
        result[key] = value
    return result


def load(path: Path) -> Fields:
    """The configuration of a file; ConfigurationError if it is broken."""
    import yaml

    try:
        value = yaml.safe_load(path.read_text()) or {}
    except (OSError, yaml.YAMLError) as error:
        raise ConfigurationError(
            f"failed to load kubelet config file, path: {path}, error: {error}"
        ) from None
    if not isinstance(value, dict) or value.get("kind", "KubeletConfiguration") != "KubeletConfiguration":
        raise ConfigurationError(f"{path}: not a KubeletConfiguration")
    if value.get("apiVersion", API_VERSION) != API_VERSION:
        raise ConfigurationError(f"{path}: the apiVersion {value.get('apiVersion')!r} is not {API_VERSION}")
    found = {key: each for key, each in value.items() if key not in ("kind", "apiVersion", "metadata")}
    validate(found)
    return found


def validate(found: Fields) -> None:
    """Refuses values that cannot be; ConfigurationError names the field."""
    for key in _DURATIONS:
        if key in found:
            try:
                duration(str(found[key]))
            except ValueError as error:
                raise ConfigurationError(f"invalid configuration: {key}: {error}") from None
    if found.get("cgroupDriver", "cgroupfs") not in ("cgroupfs", "systemd"):
        raise ConfigurationError("invalid configuration: cgroupDriver must be cgroupfs or systemd")
    for key in ("port", "healthzPort", "readOnlyPort"):
        if not 0 <= int(found.get(key, 0)) <= 65535:
            raise ConfigurationError(f"invalid configuration: {key} must be between 0 and 65535")
    if int(found.get("maxPods", 1)) < 0:
        raise ConfigurationError("invalid configuration: maxPods must not be a negative number")
