"""local-host: does on the host what the control plane of a local cluster may not; ``pyb up`` starts it."""

from __future__ import annotations

import argparse
import json
import sys

SUMMARY = "Do on the host what the control plane of a local cluster may not do itself"


def main(argv: list[str]) -> int:
    """Run until told to stop."""
    parser = argparse.ArgumentParser(prog="local-host", description=SUMMARY, allow_abbrev=False)
    parser.add_argument("--cluster", required=True, help="name of the cluster")
    arguments = parser.parse_args(argv)
    from pybernetes.tools.local import settings as saved_settings
    from pybernetes.tools.local.host_helper import HostHelper
    from pybernetes.tools.local.network import network
    from pybernetes.tools.local.network.host_balancers import HostBalancers
    from pybernetes.tools.local.network.host_routes import HostRoutes
    from pybernetes.tools.local.network.host_rules import HostRules
    from pybernetes.tools.local.paths import Cluster

    cluster = Cluster(arguments.cluster)
    settings = saved_settings.load(cluster)

    def instance(name: str) -> dict[str, object] | None:
        """Look a node up in the settings of this moment: nodes come and go."""
        return network.instance(saved_settings.load(cluster), name)

    def process(name: str) -> dict[str, object] | None:
        """Look up what the supervisor says of a process."""
        state = json.loads(cluster.processes.read_text()).get(name)
        return {key: state[key] for key in ("restarts", "started")} if state else None

    balancers = None
    if not settings.host_network:
        bridge = network.bridge_name(cluster.name)
        balancers = HostBalancers(bridge, settings.node_range, cluster.balancers, settings.node_range_v6)
        try:
            balancers.restore()
        except OSError as error:
            print(f"local-host: load balancers cannot be restored: {error}", file=sys.stderr)
        HostRules(cluster, balancers).start()
    ranges = f"{settings.pod_range},{settings.service_range}"
    routes = None
    if settings.cloud_routes:
        routes = HostRoutes(
            cluster.name,
            settings.pod_range,
            lambda: network.present_addresses(cluster.name, saved_settings.load(cluster)),
        )
    helper = HostHelper(
        lambda: network.any_namespace(cluster.name),
        ranges,
        cluster.volumes,
        balancers,
        instance,
        routes,
        process,
    )
    helper.serve(cluster.host_socket, settings.user)
    return 0
