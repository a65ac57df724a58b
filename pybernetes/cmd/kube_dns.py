"""kube-dns: answers for the names of services and pods."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
from typing import TYPE_CHECKING

from pybernetes.lib.flags import Flag, add

if TYPE_CHECKING:
    from pybernetes.node.dns.kube_dns import Options

SUMMARY = "Answer for the names of services and pods over DNS"
FLAGS = (
    Flag("kubeconfig", "", "how to reach the API server"),
    Flag("dns-bind-address", ("0.0.0.0",), "addresses to answer on"),
    Flag("dns-port", 53, "port to answer on, UDP and TCP; 0 takes a free one"),
    Flag("domain", "cluster.local", "the domain of the cluster"),
    Flag("ttl", 30, "seconds that answers may be remembered"),
    Flag("cluster-ranges", (), "ranges of services and pods: their reverse names are never asked elsewhere"),
    Flag("nameservers", (), "whom to ask about other names; by default those of /etc/resolv.conf"),
    Flag("health-port", 8080, "port of /health; 0 for none"),
    Flag("ready-port", 8181, "port of /ready; 0 for none"),
    Flag("metrics-port", 9153, "port of /metrics; 0 for none"),
    Flag("v", 0, "how much to log"),
)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(prog="kube-dns", description=SUMMARY, allow_abbrev=False)
    add(result, FLAGS)
    return result


def options(arguments: argparse.Namespace) -> Options:
    """What the command line says; ValueError if it can not be."""
    from pybernetes.node.dns import config
    from pybernetes.node.dns.kube_dns import Options

    ports = (arguments.health_port, arguments.ready_port, arguments.metrics_port)
    return Options(
        addresses=arguments.dns_bind_address,
        port=arguments.dns_port,
        zone=arguments.domain,
        ttl=arguments.ttl,
        ranges=arguments.cluster_ranges,
        http_ports=tuple(dict.fromkeys(port for port in ports if port)),
        nameservers=tuple(config.server(each) for each in arguments.nameservers) or config.of_machine(),
    )


def main(argv: list[str]) -> int:
    """Runs until told to stop."""
    arguments = parser().parse_args(argv)
    from pybernetes.client.kubeconfig import ConfigError
    from pybernetes.lib import logs

    logs.set_up(arguments.v)
    import uvloop

    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(_serve(arguments))
    except (OSError, ValueError, ConfigError) as error:
        print(f"kube-dns: {error}", file=sys.stderr)
        return 1


async def _serve(arguments: argparse.Namespace) -> int:
    from pybernetes.client import kubeconfig
    from pybernetes.lib import gc_tuning
    from pybernetes.node.dns.kube_dns import KubeDns

    client = kubeconfig.load(arguments.kubeconfig or None).client(user_agent="kube-dns")
    names = KubeDns(client, options(arguments))
    await names.start()
    running = asyncio.create_task(names.run())
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, running.cancel)
    gc_tuning.tune()
    print(f"kube-dns answers on port {names.server.port}", flush=True)
    with contextlib.suppress(asyncio.CancelledError):
        await running
    await names.stop()
    await client.close()
    return 0
