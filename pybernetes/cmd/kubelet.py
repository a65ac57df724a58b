"""kubelet: runs the pods of a node."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from pathlib import Path
from typing import Any

from pybernetes.lib import flags
from pybernetes.lib.flags import Flag, Seconds

SUMMARY = "Run the pods of a node on a container runtime"

# Flags that say the same as a field of KubeletConfiguration, which they win over.
CONFIGURATION = {
    "address": "address", "port": "port", "healthz-port": "healthzPort",
    "healthz-bind-address": "healthzBindAddress", "pod-manifest-path": "staticPodPath",
    "max-pods": "maxPods", "cluster-dns": "clusterDNS", "cluster-domain": "clusterDomain",
    "resolv-conf": "resolvConf", "cgroup-driver": "cgroupDriver", "cgroup-root": "cgroupRoot",
    "pod-cidr": "podCIDR", "seccomp-default": "seccompDefault", "fail-swap-on": "failSwapOn",
    "register-node": "registerNode", "register-with-taints": "registerWithTaints",
    "container-runtime-endpoint": "containerRuntimeEndpoint", "image-service-endpoint": "imageServiceEndpoint",
    "serialize-image-pulls": "serializeImagePulls", "rotate-certificates": "rotateCertificates",
    "rotate-server-certificates": "serverTLSBootstrap", "tls-cert-file": "tlsCertFile",
    "tls-private-key-file": "tlsPrivateKeyFile", "pod-log-dir": "podLogsDir",
    "system-reserved": "systemReserved", "kube-reserved": "kubeReserved", "eviction-hard": "evictionHard",
    "eviction-soft": "evictionSoft", "eviction-soft-grace-period": "evictionSoftGracePeriod",
    "eviction-minimum-reclaim": "evictionMinimumReclaim", "eviction-max-pod-grace-period": "evictionMaxPodGracePeriod",
    "eviction-pressure-transition-period": "evictionPressureTransitionPeriod",
    "container-log-max-size": "containerLogMaxSize", "container-log-max-files": "containerLogMaxFiles",
    "enforce-node-allocatable": "enforceNodeAllocatable", "pod-max-pids": "podPidsLimit",
    "local-storage-capacity-isolation": "localStorageCapacityIsolation", "minimum-image-ttl-duration": "imageMinimumGCAge",
    "image-gc-high-threshold": "imageGCHighThresholdPercent", "image-gc-low-threshold": "imageGCLowThresholdPercent",
    "allowed-unsafe-sysctls": "allowedUnsafeSysctls", "node-status-update-frequency": "nodeStatusUpdateFrequency",
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
    Flag("cni-write", True, "write a bridge for this node alone there; otherwise somebody else does"),
    Flag("provider-id", "", "how a cloud provider names the machine"),
    Flag("cloud-provider", "", "external if a cloud controller manager completes the node"),
    Flag("authentication-token-webhook", True, "have the API server say who bearer tokens belong to"),
    Flag("anonymous-auth", False, "let callers in who do not say who they are"),
    Flag("authorization-mode", "Webhook", "AlwaysAllow or Webhook"),
    Flag("client-ca-file", "", "callers with a certificate of this authority are known"),
    Flag("container-runtime", "remote", "only remote is there"),
    Flag("runtime-cgroups", "", "taken and not used: the runtime is a process of its own"),
    Flag("kubelet-cgroups", "", "taken and not used"),
    Flag("pod-infra-container-image", "", "taken and not used: the runtime's own configuration says it"),
    Flag("streaming-connection-idle-timeout", Seconds(4 * 3600), "how long a silent exec may last"),
    Flag("housekeeping-interval", Seconds(10), "how often to look at what the node has left"),
    Flag("v", 0, "how much to log"),
)


def parser() -> argparse.ArgumentParser:
    """The command line, with upstream's names and defaults."""
    from pybernetes.node.kubelet.config import DEFAULTS

    result = argparse.ArgumentParser(prog="kubelet", description=SUMMARY, allow_abbrev=False)
    flags.add(result, FLAGS)
    group = result.add_argument_group("fields of KubeletConfiguration")
    for name, field in CONFIGURATION.items():
        default = DEFAULTS[field]
        kind: Any = flags.boolean if isinstance(default, bool) else str
        if isinstance(default, int) and not isinstance(default, bool):
            kind = int
        elif isinstance(default, list):
            kind = flags.strings
        elif isinstance(default, dict):
            kind = _pairs
        more: dict[str, Any] = {"nargs": "?", "const": True} if kind is flags.boolean else {}
        group.add_argument(f"--{name}", dest=f"field_{field}", type=kind, default=None, **more)
    return result


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
    for name, value in vars(arguments).items():
        if not name.startswith("field_") or value is None:
            continue
        field = name.removeprefix("field_")
        if field == "registerWithTaints":
            value = [_taint(each) for each in value]
        given[field] = list(value) if isinstance(value, tuple) else value
    authentication = {part: dict(each) for part, each in (given.get("authentication") or {}).items()}
    if arguments.client_ca_file:
        authentication["x509"] = {"clientCAFile": arguments.client_ca_file}
    if arguments.anonymous_auth:
        authentication["anonymous"] = {"enabled": True}
    if not arguments.authentication_token_webhook:
        authentication["webhook"] = {"enabled": False}
    if authentication:
        given["authentication"] = authentication
    if arguments.authorization_mode != "Webhook":
        given["authorization"] = {"mode": arguments.authorization_mode}
    config.validate(given)
    return config.merged(given)


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
            return runner.run(_until_told(arguments))
    except (OSError, ConfigurationError, ValueError) as error:
        print(f"kubelet: {error}", file=sys.stderr)
        return 1


async def _rotate(kubelet: Any, server: Any) -> None:
    """Has certificates renewed, as the configuration says."""
    from pybernetes.node.kubelet.certificates import CLIENT_SIGNER, SERVING_SIGNER, Rotation

    settings, folder = kubelet.options.configuration, kubelet.options.certificates
    if kubelet.client is None:
        return
    rotation = Rotation(kubelet.client, kubelet.clock, kubelet.options, kubelet.addresses)
    work = []
    client = folder / "kubelet-client-current.pem"
    if settings["rotateCertificates"] and client.exists():
        work.append(rotation.run(CLIENT_SIGNER, client, lambda path: None))
    if settings["serverTLSBootstrap"]:
        work.append(rotation.run(SERVING_SIGNER, folder / "kubelet-server-current.pem", server.reload))
    await asyncio.gather(*work)


async def _until_told(arguments: argparse.Namespace) -> int:
    stop = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    await serve(arguments, stop)
    return 0


async def serve(arguments: argparse.Namespace, stop: asyncio.Event) -> None:
    """Runs a kubelet until the event is set."""
    import socket

    from pybernetes.lib import collector
    from pybernetes.node.kubelet import certificates
    from pybernetes.node.kubelet.agent import Kubelet
    from pybernetes.node.kubelet.config import Options
    from pybernetes.node.kubelet.server import KubeletServer
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
        provider_id=arguments.provider_id,
        cloud_provider=arguments.cloud_provider,
        cni_configuration=folder,
        certificates=Path(arguments.cert_dir) if arguments.cert_dir else root / "pki",
    )
    client = await certificates.client(arguments.kubeconfig, arguments.bootstrap_kubeconfig, options)
    write = None
    if folder is not None and arguments.cni_write:

        def write(ranges: list[str]) -> None:
            cni.write(folder, ranges, state=root / "cni", masquerade=True)

    kubelet = Kubelet(options, client, write_network=write)
    server = KubeletServer(kubelet)
    await server.start()
    tasks = [asyncio.create_task(work) for work in (kubelet.start(), stop.wait(), _rotate(kubelet, server))]
    starting, waiting, _ = tasks
    try:
        await asyncio.wait((starting, waiting), return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
            collector.calm()
            print(f"kubelet serves the node {options.node_name} on port {kubelet.port}", flush=True)
        await waiting
    finally:
        for task in tasks:
            task.cancel()
        await server.stop()
        await kubelet.stop()
        if client is not None:
            await client.close()
