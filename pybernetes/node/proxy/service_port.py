"""One port of a Service in one address family: all that backends know. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from pybernetes.node.proxy.endpoint import Target

# Protocols of which the kernel goes on sending to a target that is gone, as long as somebody sends: TCP is told to end.
STALE_PROTOCOLS = ("udp", "sctp")


@dataclass(frozen=True, slots=True)
class ServicePort:
    """One port of a Service in one address family, and where its traffic goes from this node.

    ``cluster`` holds the targets of the traffic policy Cluster and ``local`` those of the policy Local, each empty
    when no traffic follows that policy. ``exists`` says whether there is a target anywhere: without any, traffic
    is refused; where only the policy leaves none, it is dropped.
    """

    service: str  # namespace/name
    port_name: str
    protocol: str
    family: int
    cluster_ip: str
    port: int
    node_port: int = 0
    external_ips: tuple[str, ...] = ()
    load_balancer_ips: tuple[str, ...] = ()
    source_ranges: tuple[str, ...] = ()
    affinity_seconds: int = 0
    internal_local: bool = False
    external_local: bool = False
    health_check_port: int = 0
    cluster: tuple[Target, ...] = ()
    local: tuple[Target, ...] = ()
    exists: bool = False
    serving: frozenset[tuple[str, int]] = (
        frozenset()
    )  # UDP and SCTP only: targets whose connections may live on

    @property
    def name(self) -> str:
        """The name for people."""
        return f"{self.service}:{self.port_name}" if self.port_name else self.service

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What distinguishes it from every other ServicePort."""
        return (self.service, self.port_name, self.protocol, self.family)

    @property
    def external(self) -> bool:
        """Whether it can be reached by anything but its cluster IP."""
        return bool(self.node_port or self.external_ips or self.load_balancer_ips)

    @property
    def internal_targets(self) -> tuple[Target, ...]:
        """Where traffic to the cluster IP goes."""
        return self.local if self.internal_local else self.cluster

    @property
    def external_targets(self) -> tuple[Target, ...]:
        """Where traffic from outside goes."""
        return self.local if self.external_local else self.cluster

    @property
    def reachable(self) -> tuple[Target, ...]:
        """Every target that traffic may be sent to from this node."""
        if not self.local or self.local == self.cluster:
            return self.cluster
        return tuple(dict.fromkeys((*self.cluster, *self.local)))
