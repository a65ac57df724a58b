"""control-plane: the control plane of a local cluster in one process; ``pyb up`` starts it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pybernetes.cmd._program import run, serve

if TYPE_CHECKING:
    from pybernetes.tools.local.addons.dns import DnsSettings
    from pybernetes.tools.local.paths import Cluster
    from pybernetes.tools.local.settings import Settings

SUMMARY = "Run the control plane of a local cluster in one process"


def main(argv: list[str]) -> int:
    """Run until told to stop."""
    parser = argparse.ArgumentParser(prog="control-plane", description=SUMMARY, allow_abbrev=False)
    parser.add_argument("--cluster", required=True, help="name of the cluster")
    arguments = parser.parse_args(argv)
    from pybernetes.lib import logs
    from pybernetes.lib.memory import gc_tuning

    gc_tuning.pause()
    logs.set_up(0)
    from pybernetes.tools.local import settings as saved_settings
    from pybernetes.tools.local.paths import Cluster
    from pybernetes.tools.local.sandbox import confine

    cluster = Cluster(arguments.cluster)
    settings = saved_settings.load(cluster)
    confine(cluster, settings)  # before there is a second thread
    return run("control-plane", _run(cluster, settings), RuntimeError)


async def _run(cluster: Cluster, settings: Settings) -> int:
    from pybernetes.cmd import kube_apiserver, kube_controller_manager, kube_scheduler
    from pybernetes.lib.http.dialer import Dialer, RangeDialer
    from pybernetes.lib.network.names import Names
    from pybernetes.tools.local import command_lines, hardening
    from pybernetes.tools.local.addons import autoscaler
    from pybernetes.tools.local.addons.metrics import MetricsSettings
    from pybernetes.tools.local.cloud import provider
    from pybernetes.tools.local.control_plane import ControlPlane
    from pybernetes.tools.local.hollow import usage
    from pybernetes.tools.local.hollow.usage import HollowUsage
    from pybernetes.tools.local.host_client import HostClient

    host = HostClient(cluster.host_socket) if settings.node_range else None
    nodes_apart = host is not None and not settings.host_network
    names = Names()  # of webhooks and aggregated servers
    ranges = (*settings.pod_ranges, *settings.service_ranges)
    ensure_kubelet_client(cluster)
    flags = {
        "kube-apiserver": command_lines.apiserver(cluster, settings, hardening.flags(cluster, settings)),
        "kube-controller-manager": command_lines.controller_manager(cluster, settings),
        "kube-scheduler": command_lines.scheduler(cluster, settings),
    }

    def flags_of(part: str, node: str) -> tuple[str, ...]:
        return tuple(
            command_lines.kube_proxy(settings, node) if part == "kube-proxy" else flags.get(part, ())
        )

    apiserver = kube_apiserver.parser().parse_args(flags["kube-apiserver"])
    controllers = kube_controller_manager.parser().parse_args(flags["kube-controller-manager"])
    scheduler = kube_scheduler.parser().parse_args(flags["kube-scheduler"])
    plane = ControlPlane(
        apiserver,
        controllers,
        scheduler,
        settings.hollow,
        flags_of=flags_of,
        cluster_network_policy=settings.cluster_network_policy,
        gateway=settings.gateway,
        provisioning_requests=autoscaler.wants_provisioning_requests(settings),
        runtimes=tuple(settings.runtimes),
        first_node=_first_node(settings),
        node_parts=("kube-proxy",) if settings.proxy_mode != "none" else (),
        volumes=cluster.volumes,
        dns_settings=_dns_settings(settings),
        cloud=provider(cluster, settings, host) if host is not None else None,
        cluster_name=cluster.name,
        host=host,
        metrics=MetricsSettings(cluster.certificates, resolution=settings.metrics_resolution),
        hollow_usage=HollowUsage(usage.read(Path(settings.hollow_usage)) if settings.hollow_usage else None),
        dialer=RangeDialer(ranges, host.connecting, names)
        if host is not None and nodes_apart
        else Dialer(names),
    )
    return await serve(
        plane, lambda: f"the control plane is serving on https://{settings.address}:{plane.server.port}"
    )


def _dns_settings(settings: Settings) -> DnsSettings | None:
    """Return where kube-dns answers: on the bridge, where nodes reach it. Hollow nodes need none."""
    from pybernetes.tools.local.addons.dns import DnsSettings
    from pybernetes.tools.local.network import dns_ports, network

    if not settings.has_real_nodes or settings.dns == "none":
        return None
    ranges = (*settings.service_ranges, *settings.pod_ranges)
    service = network.cluster_dns(settings)
    port = settings.dns_port or dns_ports.PORT  # a cluster that is older than this setting has none
    return DnsSettings(network.host_address(settings), service, ranges, port)


def _first_node(settings: Settings) -> str:
    """Return the node that shows the control plane's parts."""
    if settings.nodes:
        return settings.nodes[0].name
    if settings.hollow_nodes and not settings.hollow:
        return settings.hollow_nodes[0].name
    return "hollow-0" if settings.hollow else ""


def ensure_kubelet_client(cluster: Cluster) -> None:
    """Make the certificate by which kubelets know the API server, once."""
    from pybernetes.lib.tls import tls
    from pybernetes.tools.local.addons import addons

    certificate, key = (cluster.certificates / f"{addons.KUBELET_CLIENT}.{end}" for end in ("crt", "key"))
    if key.exists():
        return
    for end in ("crt", "key"):  # of earlier versions, which were let do everything
        (cluster.certificates / f"apiserver-kubelet-client.{end}").unlink(missing_ok=True)
    authority_file, authority_key = tls.ensure_authority(cluster.certificates)
    authority = tls.Pair(authority_file.read_bytes(), authority_key.read_bytes())
    own = tls.issue(authority, addons.KUBELET_CLIENT, client=True)
    tls.write_atomically(certificate, own.certificate)
    tls.write_atomically(key, own.key, 0o600)
