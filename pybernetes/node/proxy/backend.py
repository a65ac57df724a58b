"""What a mode of kube-proxy has to offer, and the settings that it is given."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from pybernetes.lib import discover
from pybernetes.node.proxy.change_tracker import Change
from pybernetes.node.proxy.config import MODES
from pybernetes.node.proxy.local_traffic import LocalTraffic
from pybernetes.node.proxy.node import Node
from pybernetes.node.proxy.service_port import ServicePort


class SyncError(Exception):
    """Rules could not be written; what is in the kernel is unknown until a full sync succeeds."""


@dataclass
class Settings:
    """What every mode is given."""

    node: Node
    local: LocalTraffic = field(default_factory=LocalTraffic)
    masquerade_all: bool = False
    masquerade_bit: int = 14
    node_port_addresses: tuple[
        str, ...
    ] = ()  # ranges, primary, localhost, all; empty: the default of the mode
    localhost_node_ports: bool = True
    tcp_be_liberal: bool = False
    service_ranges: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)  # the mode's section of KubeProxyConfiguration

    @property
    def mark(self) -> str:
        """The mark of packets that are to be masqueraded."""
        return f"{1 << self.masquerade_bit:#010x}"

    def node_address(self, family: int) -> str:
        """Return the node's own address, or an empty text."""
        addresses = self.node.addresses
        return next((text for text in addresses if ipaddress.ip_address(text).version == family), "")


class Backend(Protocol):
    """One mode, for one address family."""

    settings: Settings

    async def resync(self, service_ports: Iterable[ServicePort]) -> None:
        """Make the kernel match, whatever is in it; SyncError if that fails."""

    async def sync(self, changes: Sequence[Change]) -> None:
        """Write what changed since the last ``resync`` or ``sync``; SyncError if that fails."""

    async def close(self) -> None:
        """End what runs in this process; rules stay."""

    def samples(self) -> dict[tuple[str, ...], float]:
        """Return the values of the mode's own metrics, by the metric's name and the values of its labels."""


class Metric(NamedTuple):
    """A metric that only some modes have, with the names of its labels besides ``ip_family``."""

    name: str
    type: str
    help: str
    labels: tuple[str, ...] = ()


class Mode(Protocol):
    """What the file of its name in the folder of a mode has as its ``MODE``."""

    section: str  # of KubeProxyConfiguration: its sync periods and masquerading
    rules: str  # name of the mode whose kernel rules it uses: those stay when other modes are cleaned up
    metrics: Sequence[Metric]  # whose values are the ``samples`` of its backends
    failures: Mapping[str, Metric]  # the counters that the mode has for ``failures`` and ``partial_failures``

    def __call__(self, settings: Settings, family: int) -> Backend: ...

    def missing(self) -> str:
        """Return what this kernel lacks for the mode, and what to use instead; an empty text if nothing."""

    async def cleanup(self) -> None:
        """Remove whatever the mode may have left in this network namespace."""


def modes() -> dict[str, Mode]:
    """Return every mode by name."""
    return discover.discover(MODES, "MODE", folders=True)
