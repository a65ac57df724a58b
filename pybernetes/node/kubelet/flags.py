"""The command line of the kubelet, with upstream's names and defaults, and the configuration that it means."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
from typing import Any

from pybernetes.api import feature_gates
from pybernetes.api.patch.overlay import overlaid
from pybernetes.lib import flags
from pybernetes.lib.flags import Flag, Seconds
from pybernetes.node.kubelet import config
from pybernetes.node.kubelet.config_fields import DEFAULTS, defaults

log = logging.getLogger(__name__)

# Flags that mean the same as a field of KubeletConfiguration, and win over it.
CONFIGURATION = {
    "address": "address", "allowed-unsafe-sysctls": "allowedUnsafeSysctls", "cgroup-driver": "cgroupDriver",
    "cgroup-root": "cgroupRoot", "cgroups-per-qos": "cgroupsPerQOS", "cluster-dns": "clusterDNS",
    "cluster-domain": "clusterDomain", "container-log-max-files": "containerLogMaxFiles",
    "container-log-max-size": "containerLogMaxSize", "container-runtime-endpoint": "containerRuntimeEndpoint",
    "contention-profiling": "enableContentionProfiling", "cpu-cfs-quota": "cpuCFSQuota",
    "cpu-cfs-quota-period": "cpuCFSQuotaPeriod", "cpu-manager-policy": "cpuManagerPolicy",
    "cpu-manager-policy-options": "cpuManagerPolicyOptions",
    "cpu-manager-reconcile-period": "cpuManagerReconcilePeriod",
    "enable-controller-attach-detach": "enableControllerAttachDetach",
    "enable-debugging-handlers": "enableDebuggingHandlers", "enable-server": "enableServer",
    "enforce-node-allocatable": "enforceNodeAllocatable", "event-burst": "eventBurst", "event-qps": "eventRecordQPS",
    "eviction-hard": "evictionHard", "eviction-max-pod-grace-period": "evictionMaxPodGracePeriod",
    "eviction-minimum-reclaim": "evictionMinimumReclaim",
    "eviction-pressure-transition-period": "evictionPressureTransitionPeriod", "eviction-soft": "evictionSoft",
    "eviction-soft-grace-period": "evictionSoftGracePeriod", "fail-cgroupv1": "failCgroupV1",
    "fail-swap-on": "failSwapOn", "feature-gates": "featureGates", "file-check-frequency": "fileCheckFrequency",
    "hairpin-mode": "hairpinMode", "healthz-bind-address": "healthzBindAddress", "healthz-port": "healthzPort",
    "http-check-frequency": "httpCheckFrequency", "image-gc-high-threshold": "imageGCHighThresholdPercent",
    "image-gc-low-threshold": "imageGCLowThresholdPercent", "image-service-endpoint": "imageServiceEndpoint",
    "kernel-memcg-notification": "kernelMemcgNotification", "kube-api-burst": "kubeAPIBurst",
    "kube-api-content-type": "contentType", "kube-api-qps": "kubeAPIQPS", "kube-reserved": "kubeReserved",
    "kube-reserved-cgroup": "kubeReservedCgroup", "kubelet-cgroups": "kubeletCgroups",
    "local-storage-capacity-isolation": "localStorageCapacityIsolation",
    "make-iptables-util-chains": "makeIPTablesUtilChains", "manifest-url": "staticPodURL",
    "manifest-url-header": "staticPodURLHeader", "max-open-files": "maxOpenFiles", "max-pods": "maxPods",
    "memory-manager-policy": "memoryManagerPolicy", "minimum-image-ttl-duration": "imageMinimumGCAge",
    "node-status-max-images": "nodeStatusMaxImages", "node-status-update-frequency": "nodeStatusUpdateFrequency",
    "oom-score-adj": "oomScoreAdj", "pod-cidr": "podCIDR", "pod-log-dir": "podLogsDir",
    "pod-manifest-path": "staticPodPath", "pod-max-pids": "podPidsLimit", "pods-per-core": "podsPerCore",
    "port": "port", "protect-kernel-defaults": "protectKernelDefaults", "qos-reserved": "qosReserved",
    "read-only-port": "readOnlyPort", "register-node": "registerNode", "register-with-taints": "registerWithTaints",
    "registry-burst": "registryBurst", "registry-qps": "registryPullQPS", "reserved-cpus": "reservedSystemCPUs",
    "resolv-conf": "resolvConf", "rotate-certificates": "rotateCertificates",
    "rotate-server-certificates": "serverTLSBootstrap", "runonce": "runOnce",
    "runtime-request-timeout": "runtimeRequestTimeout", "seccomp-default": "seccompDefault",
    "serialize-image-pulls": "serializeImagePulls",
    "streaming-connection-idle-timeout": "streamingConnectionIdleTimeout", "sync-frequency": "syncFrequency",
    "system-cgroups": "systemCgroups", "system-reserved": "systemReserved",
    "system-reserved-cgroup": "systemReservedCgroup", "tls-cert-file": "tlsCertFile",
    "tls-cipher-suites": "tlsCipherSuites", "tls-min-version": "tlsMinVersion",
    "tls-private-key-file": "tlsPrivateKeyFile", "topology-manager-policy": "topologyManagerPolicy",
    "topology-manager-policy-options": "topologyManagerPolicyOptions",
    "topology-manager-scope": "topologyManagerScope", "volume-plugin-dir": "volumePluginDir",
    "volume-stats-agg-period": "volumeStatsAggPeriod",
}  # fmt: skip

# Flags that go deeper into the configuration.
AUTHENTICATION = {
    "anonymous-auth": ("authentication", "anonymous", "enabled"),
    "authentication-token-webhook": ("authentication", "webhook", "enabled"),
    "authentication-token-webhook-cache-ttl": ("authentication", "webhook", "cacheTTL"),
    "authorization-webhook-cache-authorized-ttl": ("authorization", "webhook", "cacheAuthorizedTTL"),
    "authorization-webhook-cache-unauthorized-ttl": ("authorization", "webhook", "cacheUnauthorizedTTL"),
    "client-ca-file": ("authentication", "x509", "clientCAFile"),
}

# Flags of upstream's command lines that mean nothing here, and why.
_CADVISOR = "of cAdvisor, which is not inside: figures are read from control groups when somebody asks"
_LOCK = "no lock file is taken"
_DEAD = "see --maximum-dead-containers-per-container"
_PROVIDERS = "plugins for credentials of registries are not run"
IGNORED = {
    **dict.fromkeys(("application-metrics-count-limit", "boot-id-file", "container-hints", "containerd", "enable-load-reader",
                     "event-storage-age-limit", "event-storage-event-limit", "global-housekeeping-interval",
                     "log-cadvisor-usage", "machine-id-file"), _CADVISOR),
    **dict.fromkeys(("exit-on-lock-contention", "lock-file"), _LOCK),
    **dict.fromkeys(("maximum-dead-containers", "minimum-container-ttl-duration"), _DEAD),
    **dict.fromkeys(("image-credential-provider-bin-dir", "image-credential-provider-config"), _PROVIDERS),
    **{name: why for name, why in flags.LOG_FLAGS.items() if name != "logtostderr"},
    "experimental-allocatable-ignore-eviction": "thresholds of evictions always count against what pods may have",
    "experimental-mounter-path": "volumes are mounted by this process itself",
    "pod-infra-container-image": "the runtime's configuration names the image of sandboxes",
    "reserved-memory": "there is no memory manager that would keep it free",
}  # fmt: skip

FLAGS = (
    Flag("kubeconfig", "", "how to reach the API server; without it only static pods run"),
    Flag(
        "bootstrap-kubeconfig", "", "how to ask for a client certificate if the kubeconfig is not there yet"
    ),
    Flag("config", "", "a file with a KubeletConfiguration"),
    Flag("hostname-override", "", "the name of the node"),
    Flag("node-ip", (), "the node's addresses"),
    Flag("node-labels", (), "labels to register the node with"),
    Flag("root-dir", "/var/lib/kubelet", "where the kubelet keeps its files"),
    Flag("cert-dir", "", "where certificates are kept; by default pki below the root"),
    Flag("cni-conf-dir", "", "where CNI configuration is kept; empty leaves it to the runtime"),
    Flag("cni-bridge", "cni0", "bridge of this node's pods to write there; empty if somebody else does"),
    Flag("provider-id", "", "how a cloud provider names the machine"),
    Flag("cloud-provider", "", "external if a cloud controller manager completes the node"),
    Flag("authorization-mode", "", "AlwaysAllow or Webhook"),
    Flag(
        "config-dir", "", "a folder with more of the configuration in files that end in .conf, in their order"
    ),
    Flag(
        "maximum-dead-containers-per-container",
        1,
        "how many earlier runs of a container are kept for their logs",
    ),
    Flag("container-runtime", "remote", "only remote is there"),
    Flag("housekeeping-interval", Seconds(10), "how often to look at what the node has left"),
    Flag("runtime-cgroups", "", "the control group that the container runtime is in, whose use is reported"),
    Flag("v", 0, "how much to log"),
)


def parser(summary: str = "") -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = argparse.ArgumentParser(prog="kubelet", description=summary, allow_abbrev=False)
    flags.add(result, FLAGS)
    group = result.add_argument_group("fields of KubeletConfiguration")
    known = defaults()
    for name, field in CONFIGURATION.items():
        _add(group, name, f"field_{field}", known[field])
    group = result.add_argument_group("who may ask")
    for name, path in AUTHENTICATION.items():
        _add(group, name, f"deep_{name}", DEFAULTS[path[0]][path[1]][path[2]])
    flags.add_ignored(result, IGNORED)
    return result


def _add(group: Any, name: str, target: str, default: Any) -> None:
    kind: Any = flags.boolean if isinstance(default, bool) else str
    if isinstance(default, int) and not isinstance(default, bool):
        kind = int
    elif isinstance(default, list):
        kind = flags.strings
    elif isinstance(default, dict):
        kind = _pairs
    options: dict[str, Any] = {"nargs": "?", "const": True} if kind is flags.boolean else {}
    group.add_argument(f"--{name}", dest=target, type=kind, default=None, **options)


def _pairs(text: str) -> dict[str, str]:
    pairs = {}
    for part in flags.strings(text):
        separator = "<" if "<" in part else "="
        key, _, value = part.partition(separator)
        pairs[key] = value
    return pairs


def configuration(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the KubeletConfiguration of the file, with the flags over it."""
    given = config.load(Path(arguments.config)) if arguments.config else {}
    for path in sorted(Path(arguments.config_dir).glob("*.conf")) if arguments.config_dir else ():
        given = overlaid(given, config.load(path))
    for name, value in vars(arguments).items():
        if name.startswith("field_") and value is not None:
            field = name.removeprefix("field_")
            given[field] = _value(field, value)
        elif name.startswith("deep_") and value is not None:
            first, second, third = AUTHENTICATION[name.removeprefix("deep_")]
            given = overlaid(given, {first: {second: {third: value}}})
    if arguments.authorization_mode:
        given = overlaid(given, {"authorization": {"mode": arguments.authorization_mode}})
    config.validate(given)
    feature_gates.decide(given.get("featureGates") or {})
    for remark in config.remarks(given):
        log.warning("KubeletConfiguration: %s", remark)
    flags.warn_ignored(arguments, IGNORED)
    return config.merged(given)


def _value(field: str, value: Any) -> Any:
    if field == "registerWithTaints":
        return [_taint(text) for text in value]
    if field == "featureGates":
        return {name: flags.boolean(text) for name, text in value.items()}
    if field == "staticPodURLHeader":
        return {name: [header] for name, header in (pair.split(":", 1) for pair in value)}
    if field == "memorySwap":
        return {"swapBehavior": value}
    return list(value) if isinstance(value, tuple) else value


def _taint(text: str) -> dict[str, str]:
    rest, _, effect = text.rpartition(":")
    key, _, value = rest.partition("=")
    return {"key": key, "value": value, "effect": effect} if value else {"key": key, "effect": effect}
