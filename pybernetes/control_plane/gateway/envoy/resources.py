"""All resources of an entry, by type and name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pybernetes.control_plane.gateway.envoy import clusters, listeners, routes, secrets
from pybernetes.control_plane.gateway.envoy.messages import CLUSTER, LISTENER, ROUTES, SECRET, Message
from pybernetes.control_plane.gateway.model import Entry

Resources = dict[str, dict[str, Message]]
# Those that others refer to come first, and go last.
REFERRED, REFERRING = (CLUSTER, SECRET), (LISTENER, ROUTES)


def resources(entry: Entry, address: str, bound: Mapping[int, int] | Callable[[int], int]) -> Resources:
    """Return the resources of an entry, whose ports are bound to an address and to ports of this machine."""
    port_of = bound if callable(bound) else bound.__getitem__
    result: Resources = {CLUSTER: {}, SECRET: {}, LISTENER: {}, ROUTES: {}}
    for cluster in entry.clusters.values():
        result[CLUSTER][cluster.name] = clusters.cluster(cluster)
    for name, pair in entry.certificates.items():
        result[SECRET][name] = secrets.secret(name, pair)
    for port in entry.ports:
        if (
            not port.chains
        ):  # as of a listener that passes TLS on, and has no routes yet: nobody is to be let in
            continue
        made = listeners.listener(entry.name, port, address, port_of(port.number))
        result[LISTENER][made.name] = made
        for chain in port.chains:
            if chain.hosts is not None:
                name = listeners.routes_name(entry.name, port.number, chain)
                configuration = routes.route_configuration(
                    name, chain.hosts, port=port.number, is_tls=port.is_tls
                )
                result[ROUTES][name] = configuration
    return result
