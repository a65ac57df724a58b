"""The command line of the pod network, and the configuration that it means."""

from __future__ import annotations

import argparse
from pathlib import Path

from pybernetes.lib import flags
from pybernetes.lib.flags import Flag
from pybernetes.node.network.plan import Configuration

FLAGS = (
    Flag("kubeconfig", "", "how to reach the API server"),
    Flag("node-name", "", "the name of this node; by default that of the host"),
    Flag(
        "backend",
        "vxlan",
        "vxlan, host-gw if all nodes are on one link, cloud if the cloud makes routes, or alone for the only node",
    ),
    Flag("cluster-cidr", (), "the ranges of all pods; by default those of all nodes"),
    Flag("vni", 1, "number of the overlay"),
    Flag("vxlan-port", 8472, "UDP port of the overlay"),
    Flag("mtu", 0, "MTU of pods; 0 takes what the node's link allows"),
    Flag("masquerade", True, "give packets that leave the cluster the address of the node"),
    Flag("cni-conf-dir", "/etc/cni/net.d", "where the CNI configuration is written; empty writes none"),
    Flag("network-policies", True, "enforce network policies, with a table of nftables"),
    Flag(
        "policy-socket",
        "/run/pybernetes/policy.sock",
        "where pods that start ask whether their policies hold",
    ),
    Flag("cni-bin-dir", "/opt/cni/bin", "where the CNI plugin that asks there is put; empty puts none"),
    Flag("v", 0, "how much to log"),
)


def parser(summary: str = "") -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    return flags.parser("pod-network", summary, FLAGS)


def configuration(arguments: argparse.Namespace) -> Configuration:
    """Return the configuration that the command line means; ValueError if it is wrong."""
    return Configuration(
        backend=arguments.backend,
        cluster_cidrs=arguments.cluster_cidr,
        vni=arguments.vni,
        port=arguments.vxlan_port,
        mtu=arguments.mtu,
        masquerade=arguments.masquerade,
        cni_folder=Path(arguments.cni_conf_dir) if arguments.cni_conf_dir else None,
        policies=arguments.network_policies,
        policy_socket=Path(arguments.policy_socket) if arguments.policy_socket else None,
        cni_plugins=Path(arguments.cni_bin_dir) if arguments.cni_bin_dir else None,
    )
