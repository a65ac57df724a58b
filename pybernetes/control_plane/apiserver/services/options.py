"""The ranges that an API server is started with."""

from __future__ import annotations

from dataclasses import dataclass

from pybernetes.control_plane.apiserver.services.ranges import AddressRange, PortRange
from pybernetes.lib.flags import Flag

_ADDRESSES = (AddressRange("10.0.0.0/24"),)
_NODE_PORTS = PortRange(30000, 32767)


FLAGS = (
    Flag(
        "service-cluster-ip-range",
        "10.0.0.0/24",
        "ranges of service addresses: one, or one of each IP family",
    ),
    Flag("service-node-port-range", "30000-32767", "range of ports that services may have on every node"),
)


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """One range of addresses, or two of different families, and the range of node ports."""

    ranges: tuple[AddressRange, ...] = _ADDRESSES
    node_ports: PortRange = _NODE_PORTS

    @classmethod
    def parse(
        cls, cluster_ip_range: str = "10.0.0.0/24", node_port_range: str = "30000-32767"
    ) -> ServiceOptions:
        """Return the options from the flags; ValueError says which flag is wrong and why."""
        try:
            ranges = tuple(AddressRange(text.strip()) for text in cluster_ip_range.split(","))
        except ValueError as error:
            raise ValueError(f"--service-cluster-ip-range: {error}") from None
        if len(ranges) > 2:
            raise ValueError("--service-cluster-ip-range must not contain more than two entries")
        if len(ranges) == 2 and ranges[0].family == ranges[1].family:
            raise ValueError(
                "--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family"
            )
        if any(range_.size < 8 for range_ in ranges):
            raise ValueError("--service-cluster-ip-range must be at least 8 IP addresses")
        try:
            return cls(ranges, PortRange.parse(node_port_range))
        except ValueError as error:
            raise ValueError(f"--service-node-port-range: {error}") from None

    @property
    def families(self) -> tuple[str, ...]:
        """The families of this cluster, the default one first."""
        return tuple(range_.family for range_ in self.ranges)
