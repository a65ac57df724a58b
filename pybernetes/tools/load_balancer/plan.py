"""What a load balancer is told: the machines, the address that moves between them, and where certificates lie."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

CERTIFICATES = "/etc/kubernetes/pki"
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_INTERFACE = re.compile(r"[A-Za-z0-9_.-]{1,15}")
_PATH = re.compile(r"/[A-Za-z0-9_./-]*")
_PORTS = range(1, 65536)
_ROUTERS = range(1, 256)
_PASSWORD = re.compile(r"([A-Za-z0-9]{8})?")  # VRRP has room for eight


class LoadBalancerError(ValueError):
    """A plan that no load balancer can follow."""


@dataclass(frozen=True, slots=True)
class Server:
    """A machine with an API server on it."""

    name: str
    address: str
    port: int = 6443


@dataclass(frozen=True, slots=True)
class Plan:
    """A cluster's control-plane machines behind one address; all words are checked, so they can stand in any file."""

    address: str  # the virtual one
    servers: tuple[Server, ...]
    port: int = 8443  # not the API servers' own, which are on the same machines
    interface: str = "eth0"
    router: int = 51  # the number that VRRP knows the address by; unique in its network
    certificates: str = CERTIFICATES
    password: str = ""  # of VRRP: who does not know it cannot take the address away
    health_port: int = 8404  # of HAProxy, on loopback only: whether an API server answers behind it

    def __post_init__(self) -> None:
        """Check everything that is written into a file."""
        if not self.servers:
            raise LoadBalancerError("servers: at least one is needed")
        if len(self.servers) > len(_ROUTERS) - 1:
            raise LoadBalancerError(f"servers: {len(self.servers)} are more than VRRP has priorities")
        _check("address", _address(self.address))
        for server in self.servers:
            _check(f"the server's name {server.name!r}", bool(_NAME.fullmatch(server.name)))
            _check(f"the server's address {server.address!r}", _address(server.address))
            _check(f"the server's port {server.port!r}", server.port in _PORTS)
        names, addresses = (
            {server.name for server in self.servers},
            {server.address for server in self.servers},
        )
        _check("two servers of one name", len(names) == len(self.servers))
        _check("two servers at one address", len(addresses) == len(self.servers))
        _check(f"the virtual address {self.address} is a server's own", self.address not in addresses)
        _check("the port", self.port in _PORTS and self.port != self.health_port)
        _check("the port of health", self.health_port in _PORTS)
        taken = any(server.port == self.port for server in self.servers)
        _check(f"the port {self.port} is an API server's own", not taken)
        _check(f"the interface {self.interface!r}", bool(_INTERFACE.fullmatch(self.interface)))
        _check(f"the router's number {self.router!r}", self.router in _ROUTERS)
        _check("the password", bool(_PASSWORD.fullmatch(self.password)))
        _check(f"the folder {self.certificates!r}", bool(_PATH.fullmatch(self.certificates)))

    @property
    def is_ipv6(self) -> bool:
        """Whether the virtual address is one of IPv6."""
        return ":" in self.address

    @property
    def everywhere(self) -> str:
        """Where HAProxy listens: the virtual address is not there on machines that do not have it."""
        return joined("::" if self.is_ipv6 else "0.0.0.0", self.port)

    def position(self, name: str) -> int:
        """Return where a machine stands among the servers."""
        for index, server in enumerate(self.servers):
            if server.name == name:
                return index
        raise LoadBalancerError(f"there is no server {name!r}")


def _address(text: str) -> bool:
    try:
        return str(ipaddress.ip_address(text)) == text
    except ValueError:
        return False


def _check(what: str, good: bool) -> None:
    if not good:
        raise LoadBalancerError(f"{what}: not possible")


def joined(address: str, port: int) -> str:
    """Return an address with a port as HAProxy and URLs write it."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
