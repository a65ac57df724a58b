"""Approves what the kubelets of a new cluster ask for: certificates to be known by, for their own names and addresses.

It is done where machines are made and started, since this machine knows whose addresses are whose; a kubelet asks again when its
certificate is about to end, after most of a year. What may be approved is decided in ``nodes/serving_approval.py``: there by a
controller that goes on, here once for all that was asked, without a program that runs in between.
"""

from __future__ import annotations

import time

from pybernetes.api.resource import Object
from pybernetes.client.refs import CERTIFICATE_SIGNING_REQUESTS, path_of
from pybernetes.control_plane.controllers._certificates import signing_requests
from pybernetes.tools.local.admin_client import AdminClient, ApiError
from pybernetes.tools.local.network import network
from pybernetes.tools.local.nodes.serving_approval import MESSAGE, asks_for_more, node_of
from pybernetes.tools.local.paths import Cluster, ClusterError
from pybernetes.tools.local.settings import ETCD, Settings

_SECONDS = 120.0


def approve(cluster: Cluster, settings: Settings, wait: bool = True) -> None:
    """Approve the requests of the cluster's own machines, and wait until all of them have asked."""
    machines = [node.name for node in settings.nodes if node.role != ETCD and not node.stopped]
    addresses = {name: network.node_addresses(settings, name) for name in machines}
    api, deadline = AdminClient(cluster), time.monotonic() + _SECONDS
    while True:
        try:
            missing = set(machines) - _approve_all(api, addresses)
        except (ApiError, OSError) as error:
            missing, reason = set(machines), f": {error}"
        else:
            reason = ""
        if not missing or not wait:
            return
        if time.monotonic() > deadline:
            raise ClusterError(
                f"kubelets have no serving certificates yet ({', '.join(sorted(missing))}){reason}"
            )
        time.sleep(0.2)


def _approve_all(api: AdminClient, addresses: dict[str, tuple[str, ...]]) -> set[str]:
    """Approve what is open, and return the nodes whose requests are approved."""
    approved = set()
    for csr in api.call("GET", path_of(CERTIFICATE_SIGNING_REQUESTS))["items"]:
        name = permitted(csr, addresses)
        if not name:
            continue
        if signing_requests.is_open(csr):
            path = path_of(CERTIFICATE_SIGNING_REQUESTS, "", csr["metadata"]["name"], "approval")
            api.call("PUT", path, body=signing_requests.approved(csr, MESSAGE))
        elif not signing_requests.is_approved(csr):
            continue
        approved.add(name)
    return approved


def permitted(csr: Object, addresses: dict[str, tuple[str, ...]]) -> str:
    """Return the machine whose own names and addresses a request is about; empty if it is about anything else."""
    name = node_of(csr)
    if name not in addresses or asks_for_more(csr, name, addresses[name]):
        return ""
    return name
