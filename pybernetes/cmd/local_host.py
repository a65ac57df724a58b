"""local-host: does on the host what the control plane of a local cluster may not; ``pyb up`` starts it."""

from __future__ import annotations

import argparse

SUMMARY = "Do on the host what the control plane of a local cluster may not do itself"


def main(argv: list[str]) -> int:
    """Run until told to stop."""
    parser = argparse.ArgumentParser(prog="local-host", description=SUMMARY, allow_abbrev=False)
    parser.add_argument("--cluster", required=True, help="name of the cluster")
    arguments = parser.parse_args(argv)
    from pybernetes.tools.local import network
    from pybernetes.tools.local import settings as saved_settings
    from pybernetes.tools.local.host_helper import HostHelper
    from pybernetes.tools.local.paths import Cluster

    cluster = Cluster(arguments.cluster)
    settings = saved_settings.load(cluster)
    bridge = "" if settings.host_network else network.bridge_name(cluster.name)
    helper = HostHelper(
        lambda: network.any_namespace(cluster.name),
        f"{settings.pod_range},{settings.service_range}", settings.node_range, bridge, cluster.volumes,
    )  # fmt: skip
    helper.serve(cluster.host_socket, settings.user)
    return 0
