"""The address and port of a local cluster's API server."""

from __future__ import annotations

import functools
import hashlib
import socket

from pybernetes.tools.local import command_lines
from pybernetes.tools.local.network import dns_ports
from pybernetes.tools.local.network.ip_families import bracketed
from pybernetes.tools.local.settings import Settings

_PORT = 6443
_LOOPBACK_TRIES = 16


def loopback(name: str) -> str:
    """Return an address of this machine for a cluster alone, on which the well-known ports are free; else the usual one."""
    for turn in range(_LOOPBACK_TRIES):
        digest = hashlib.sha256(f"{name}/{turn}".encode()).digest()
        address = f"127.{64 + digest[0] % 128}.{digest[1]}.{1 + digest[2] % 254}"
        if all(map(functools.partial(_is_free, address), (_PORT, *command_lines.HEALTH_PORTS))):
            return address
    return "127.0.0.1"


def free_port(address: str) -> int:
    """Return the API server's usual port, or any if that is taken at its address."""
    if address != "127.0.0.1" and _is_free(address, _PORT):
        return _PORT
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _is_free(address: str, port: int) -> bool:
    with dns_ports.unbound(address, socket.SOCK_STREAM) as probe:
        try:
            probe.bind((address, port))
        except OSError:
            return False
        return True


def server_of(settings: Settings) -> str:
    """Return the URL of a cluster's API server."""
    address = "127.0.0.1" if settings.address == "0.0.0.0" else settings.address
    return f"https://{bracketed(address)}:{settings.port}"
