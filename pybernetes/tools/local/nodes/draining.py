"""Takes nodes out of load balancers before they go, so that no connection is lost with them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from urllib.parse import quote

from pybernetes.tools.local.admin_client import AdminClient, ApiError
from pybernetes.tools.local.network import network
from pybernetes.tools.local.network.host_balancers import connections
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import Settings

# The taint by which load balancers know that a node is about to go; cluster-autoscaler sets it as well.
TAINT = {"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"}
_SECONDS = 10.0  # for balancers to turn to others, and for connections to end


def balanced_addresses(text: str) -> set[str]:
    """Return the addresses of all nodes behind load balancers, from the host helper's file."""
    try:
        entries = json.loads(text or "[]")
    except ValueError:  # it is being written
        return set()
    return {address for entry in entries for address in entry["nodes"]}


def leave_balancers(cluster: Cluster, settings: Settings, names: Iterable[str]) -> None:
    """Have load balancers send new connections elsewhere, and wait a while for the others to end."""
    real = {node.name for node in settings.nodes} & set(names)
    going: set[str] = set()
    if not settings.host_network:
        going = {address for name in real for address in network.node_addresses(settings, name)}

    def behind() -> set[str]:
        try:
            return balanced_addresses(cluster.balancers.read_text()) & going
        except OSError:
            return set()

    if not behind():
        return
    for name in real:
        try:
            api, path = AdminClient(cluster), f"/api/v1/nodes/{quote(name)}"
            node = api.call("GET", path)
            taints = node["spec"].get("taints") or []
            if not any(taint["key"] == TAINT["key"] for taint in taints):
                patch = {"metadata": {"uid": node["metadata"]["uid"]}, "spec": {"taints": [*taints, TAINT]}}
                api.call("PATCH", path, body=patch)
        except (ApiError, OSError):
            return  # without an API server nobody would tell the balancers
    _wait(lambda: not behind())
    _wait(lambda: not any(connections(address) for address in going))


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _SECONDS
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
