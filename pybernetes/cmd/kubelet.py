"""kubelet: runs the pods of a node."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys
from pathlib import Path
from typing import Any

from pybernetes.lib import flags
from pybernetes.lib.flags import Flag, Seconds

log = logging.getLogger(__name__)
SUMMARY = "Run the pods of a node on a container runtime"

# Flags that say the same as a field of KubeletConfiguration, which they win over.
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

# What upstream's command lines carry and what means nothing here.
IGNORED = ("application-metrics-count-limit", "boot-id-file", "container-hints", "containerd", "enable-load-reader",
           "event-storage-age-limit", "event-storage-event-limit", "exit-on-lock-contention",
           "experimental-allocatable-ignore-eviction", "experimental-mounter-path", "global-housekeeping-interval",
           "image-credential-provider-bin-dir", "image-credential-provider-config", "lock-file", "log-cadvisor-usage",
           "log-flush-frequency", "logging-format", "machine-id-file", "maximum-dead-containers",
           "minimum-container-ttl-duration", "pod-infra-container-image", "reserved-memory", "runtime-cgroups",
           "vmodule")  # fmt: skip

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
    Flag("v", 0, "how much to log"),
)


def parser() -> argparse.ArgumentParser:
    """The command line, with upstream's names and defaults."""
    from pybernetes.node.kubelet.config_fields import ABSENT, DEFAULTS, UNUSED

    result = argparse.ArgumentParser(prog="kubelet", description=SUMMARY, allow_abbrev=False)
    flags.add(result, FLAGS)
    group = result.add_argument_group("fields of KubeletConfiguration")
    known = {**{name: fine[0] for name, (fine, _) in ABSENT.items()},
             **{name: default for name, (default, _) in UNUSED.items()}, **DEFAULTS}  # fmt: skip
    for name, field in CONFIGURATION.items():
        _add(group, name, f"field_{field}", known[field])
    group = result.add_argument_group("who may ask")
    for name, path in AUTHENTICATION.items():
        _add(group, name, f"deep_{name}", DEFAULTS[path[0]][path[1]][path[2]])
    ignored = result.add_argument_group("accepted and ignored")
    for name in IGNORED:
        ignored.add_argument(f"--{name}", nargs="?", help=argparse.SUPPRESS)
    return result


def _add(group: Any, name: str, target: str, default: Any) -> None:
    kind: Any = flags.boolean if isinstance(default, bool) else str
    if isinstance(default, int) and not isinstance(default, bool):
        kind = int
    elif isinstance(default, list):
        kind = flags.strings
    elif isinstance(default, dict):
        kind = _pairs
    more: dict[str, Any] = {"nargs": "?", "const": True} if kind is flags.boolean else {}
    group.add_argument(f"--{name}", dest=target, type=kind, default=None, **more)


def _pairs(text: str) -> dict[str, str]:
    found = {}
    for part in flags.strings(text):
        separator = "<" if "<" in part else "="
        key, _, value = part.partition(separator)
        found[key] = value
    return found


def configuration(arguments: argparse.Namespace) -> dict[str, Any]:
    """The KubeletConfiguration: the file's, with the flags over it."""
    from pybernetes.node.kubelet import config

    given = config.load(Path(arguments.config)) if arguments.config else {}
    for path in sorted(Path(arguments.config_dir).glob("*.conf")) if arguments.config_dir else ():
        given = config.overlaid(given, config.load(path))
    for name, value in vars(arguments).items():
        if name.startswith("field_") and value is not None:
            field = name.removeprefix("field_")
            given[field] = _value(field, value)
        elif name.startswith("deep_") and value is not None:
            first, second, third = AUTHENTICATION[name.removeprefix("deep_")]
            given = config.overlaid(given, {first: {second: {third: value}}})
    if arguments.authorization_mode:
        given = config.overlaid(given, {"authorization": {"mode": arguments.authorization_mode}})
    config.validate(given)
    for remark in config.remarks(given):
        log.warning("KubeletConfiguration: %s", remark)
    for name in IGNORED:
        if getattr(arguments, name.replace("-", "_")) is not None:
            log.warning("the flag --%s changes nothing here", name)
    return config.merged(given)


def _value(field: str, value: Any) -> Any:
    if field == "registerWithTaints":
        return [_taint(each) for each in value]
    if field == "featureGates":
        return {name: flags.boolean(each) for name, each in value.items()}
    if field == "staticPodURLHeader":
        return {name: [each] for name, each in (pair.split(":", 1) for pair in value)}
    if field == "memorySwap":
        return {"swapBehavior": value}
    return list(value) if isinstance(value, tuple) else value


def _taint(text: str) -> dict[str, str]:
    rest, _, effect = text.rpartition(":")
    key, _, value = rest.partition("=")
    return {"key": key, "value": value, "effect": effect} if value else {"key": key, "effect": effect}


def main(argv: list[str]) -> int:
    """Runs the kubelet until it is told to stop."""
    arguments = parser().parse_args(argv)
    from pybernetes.lib import logs
    from pybernetes.node.kubelet.config import ConfigurationError

    logs.set_up(arguments.v)
    if arguments.container_runtime != "remote":
        print("kubelet: --container-runtime takes only remote: others are gone", file=sys.stderr)
        return 1
    try:
        import uvloop

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(_until_told(arguments, alone=True))
    except (OSError, ConfigurationError, ValueError) as error:
        print(f"kubelet: {error}", file=sys.stderr)
        return 1


async def _rotate(kubelet: Any, server: Any) -> None:
    """Has certificates renewed, as the configuration says."""
    from pybernetes.node.kubelet.certificates import CLIENT_SIGNER, SERVING_SIGNER, CertificateRotation

    settings, folder = kubelet.options.configuration, kubelet.options.certificates
    if kubelet.client is None:
        return
    rotation = CertificateRotation(kubelet.client, kubelet.clock, kubelet.options, kubelet.addresses)
    work = []
    client = folder / "kubelet-client-current.pem"
    if settings["rotateCertificates"] and client.exists():
        work.append(rotation.run(CLIENT_SIGNER, client, lambda path: None))
    if settings["serverTLSBootstrap"]:
        work.append(rotation.run(SERVING_SIGNER, folder / "kubelet-server-current.pem", server.reload))
    await asyncio.gather(*work)


async def _until_told(arguments: argparse.Namespace, *, alone: bool = False) -> int:
    stop = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    await serve(arguments, stop, alone=alone)
    return 0


async def serve(arguments: argparse.Namespace, stop: asyncio.Event, *, alone: bool = False) -> None:
    """Runs a kubelet until the event is set; one that is ``alone`` has the process for itself."""
    import socket

    from pybernetes.api import zpages
    from pybernetes.lib import gc_tuning
    from pybernetes.node.kubelet import certificates, node_allocatable
    from pybernetes.node.kubelet.config import Options
    from pybernetes.node.kubelet.kubelet import Kubelet
    from pybernetes.node.kubelet.server.kubelet_server import KubeletServer
    from pybernetes.node.network import cni

    root = Path(arguments.root_dir)
    hostname = arguments.hostname_override or socket.gethostname()
    folder = Path(arguments.cni_conf_dir) if arguments.cni_conf_dir else None
    options = Options(
        node_name=hostname.strip().lower(),
        root=root,
        configuration=configuration(arguments),
        node_ips=tuple(arguments.node_ip),
        node_labels=dict(each.partition("=")[::2] for each in arguments.node_labels),
        hostname=hostname,
        housekeeping=float(arguments.housekeeping_interval),
        dead_runs=max(0, int(arguments.maximum_dead_containers_per_container)),
        provider_id=arguments.provider_id,
        cloud_provider=arguments.cloud_provider,
        cni_configuration=folder,
        certificates=Path(arguments.cert_dir) if arguments.cert_dir else root / "pki",
    )
    node_allocatable.check_machine(options.configuration, Path("/sys/fs/cgroup/cgroup.controllers").exists())
    if alone:
        node_allocatable.prepare_process(options.configuration)
    client = await certificates.client(arguments.kubeconfig, arguments.bootstrap_kubeconfig, options)
    write = None
    if folder is not None and arguments.cni_bridge:

        def write(ranges: list[str]) -> None:
            cni.write(folder, ranges, bridge=arguments.cni_bridge, state=root / "cni", masquerade=True)

    kubelet = Kubelet(options, client, write_network=write)
    server = KubeletServer(kubelet, zpages.flags_of(arguments, parser()))
    await server.start()
    tasks = [asyncio.create_task(work) for work in (kubelet.start(), stop.wait(), _rotate(kubelet, server))]
    starting, waiting, _ = tasks
    try:
        await asyncio.wait((starting, waiting), return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
            gc_tuning.tune()
            print(f"kubelet serves the node {options.node_name} on port {kubelet.port}", flush=True)
        await waiting
    finally:
        for task in tasks:
            task.cancel()
        await server.stop()
        await kubelet.stop()
        if client is not None:
            await client.close()
