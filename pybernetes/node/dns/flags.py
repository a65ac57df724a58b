"""The command line of kube-dns, and the options that it means."""

from __future__ import annotations

import argparse

from pybernetes.lib import flags
from pybernetes.lib.flags import Flag
from pybernetes.node.dns import config
from pybernetes.node.dns.kube_dns import Options

FLAGS = (
    Flag("kubeconfig", "", "how to reach the API server"),
    Flag("dns-bind-address", ("0.0.0.0",), "addresses to answer on"),
    Flag("dns-port", 53, "port to answer on, UDP and TCP; 0 takes a free one"),
    Flag("domain", "cluster.local", "the domain of the cluster"),
    Flag("ttl", 30, "seconds that answers may be cached"),
    Flag("cluster-ranges", (), "ranges of services and pods: their reverse names are never forwarded"),
    Flag("nameservers", (), "servers to ask about other names; by default those of /etc/resolv.conf"),
    Flag("health-port", 8080, "port of /health; 0 for none"),
    Flag("ready-port", 8181, "port of /ready; 0 for none"),
    Flag("metrics-port", 9153, "port of /metrics; 0 for none"),
    Flag("v", 0, "how much to log"),
)


def parser(summary: str = "") -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    return flags.parser("kube-dns", summary, FLAGS)


def options(arguments: argparse.Namespace) -> Options:
    """Return the options that the command line means; ValueError if it is wrong."""
    return Options(
        addresses=arguments.dns_bind_address,
        port=arguments.dns_port,
        zone=arguments.domain,
        ttl=arguments.ttl,
        ranges=arguments.cluster_ranges,
        health_port=arguments.health_port,
        ready_port=arguments.ready_port,
        metrics_port=arguments.metrics_port,
        nameservers=tuple(config.server(text) for text in arguments.nameservers) or config.of_machine(),
    )
