"""kubelet: runs the pods of a node."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pybernetes.cmd._program import add_version, run, stop_event

if TYPE_CHECKING:
    from pybernetes.node.kubelet.kubelet import Kubelet
    from pybernetes.node.kubelet.server.kubelet_server import KubeletServer

PlainLog = Callable[[str, str], Path | None]
SUMMARY = "Run the pods of a node on a container runtime"


def main(argv: list[str]) -> int:
    """Run the kubelet until it is told to stop."""
    from pybernetes.api import cloud
    from pybernetes.lib import logs
    from pybernetes.node.kubelet import flags
    from pybernetes.node.kubelet.config import ConfigurationError

    parser = flags.parser(SUMMARY)
    add_version(parser)
    arguments = parser.parse_args(argv)
    logs.set_up(arguments.v)
    try:
        cloud.check_provider(arguments.cloud_provider)
    except ValueError as error:
        print(f"kubelet: {error}", file=sys.stderr)
        return 1
    if arguments.container_runtime != "remote":
        print("kubelet: --container-runtime takes only remote: others are gone", file=sys.stderr)
        return 1
    return run("kubelet", _until_told(arguments), ConfigurationError)


async def _rotate(kubelet: Kubelet, server: KubeletServer) -> None:
    """Renew certificates before they expire, as the configuration says."""
    from pybernetes.node.kubelet.certificates.certificate_request import CLIENT_SIGNER, SERVING_SIGNER
    from pybernetes.node.kubelet.certificates.certificate_rotation import CertificateRotation

    settings, folder = kubelet.options.configuration, kubelet.options.certificates
    if kubelet.client is None or folder is None:
        return
    rotation = CertificateRotation(kubelet.client, kubelet.clock, kubelet.options, kubelet.addresses)
    work = []
    client = folder / "kubelet-client-current.pem"
    if settings["rotateCertificates"] and client.exists():
        work.append(rotation.run(CLIENT_SIGNER, client, lambda path: None))
    if settings["serverTLSBootstrap"]:
        work.append(rotation.run(SERVING_SIGNER, folder / "kubelet-server-current.pem", server.reload))
    await asyncio.gather(*work)


async def _until_told(arguments: argparse.Namespace) -> int:
    await serve(arguments, stop_event(), alone=True)
    return 0


async def serve(
    arguments: argparse.Namespace,
    stop: asyncio.Event,
    *,
    alone: bool = False,
    plain_log: PlainLog | None = None,
) -> None:
    """Run a kubelet until the event is set; one that is ``alone`` has the process for itself.

    ``plain_log`` gives the logs of pods that are shown on the node and are no containers.
    """
    import socket

    from pybernetes.api import zpages
    from pybernetes.lib import logs
    from pybernetes.lib.memory import gc_tuning
    from pybernetes.node.kubelet import flags
    from pybernetes.node.kubelet.certificates.client_certificate import kubelet_client
    from pybernetes.node.kubelet.kubelet import Kubelet
    from pybernetes.node.kubelet.node_status import node_allocatable
    from pybernetes.node.kubelet.options import Options
    from pybernetes.node.kubelet.server.kubelet_server import KubeletServer
    from pybernetes.node.network import cni

    root = Path(arguments.root_dir)
    hostname = arguments.hostname_override or socket.gethostname()
    folder = Path(arguments.cni_conf_dir) if arguments.cni_conf_dir else None
    options = Options(
        node_name=hostname.strip().lower(),
        root=root,
        configuration=flags.configuration(arguments),
        node_ips=tuple(arguments.node_ip),
        node_labels=dict(label.partition("=")[::2] for label in arguments.node_labels),
        hostname=hostname,
        housekeeping=float(arguments.housekeeping_interval),
        dead_runs=max(0, int(arguments.maximum_dead_containers_per_container)),
        provider_id=arguments.provider_id,
        cloud_provider=arguments.cloud_provider,
        cni_configuration=folder,
        runtime_group=arguments.runtime_cgroups,
        certificates=Path(arguments.cert_dir) if arguments.cert_dir else root / "pki",
    )
    verbosity = (options.configuration["logging"] or {}).get("verbosity") or 0
    if alone and verbosity > arguments.v:
        logs.set_up(verbosity)
    if plain_log is not None:
        options.plain_log = plain_log
    node_allocatable.check_machine(options.configuration, Path("/sys/fs/cgroup/cgroup.controllers").exists())
    node_allocatable.check_kernel(options.configuration)
    if alone:
        node_allocatable.prepare_process(options.configuration)
    client = await kubelet_client(arguments.kubeconfig, arguments.bootstrap_kubeconfig, options)
    write = None
    if folder is not None and arguments.cni_bridge:

        def write(ranges: list[str]) -> None:
            cni.write(folder, ranges, bridge=arguments.cni_bridge, state=root / "cni", masquerade=True)

    kubelet = Kubelet(options, client, write_network=write)
    server = KubeletServer(kubelet, zpages.flags_of(arguments, flags.parser()))
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
