"""The ports of a local cluster's kube-dns: known before it runs, since nodes are let to these alone."""

from __future__ import annotations

import contextlib
import socket

from pybernetes.tools.local.network.bridge import OpenPorts
from pybernetes.tools.local.settings import Settings

PORT, METRICS = 10053, 9153  # 53 may be taken by a name server of the machine's own
# IP_FREEBIND and IPV6_FREEBIND, which Python has no names for before 3.14: the address need not be there yet.
_FREEBIND, _FREEBIND_V6 = 15, 78


def choose(address: str) -> int:
    """Return the port for names at an address: the usual one, or a free one if somebody has a port of ours."""
    wanted = ((socket.SOCK_STREAM, PORT), (socket.SOCK_DGRAM, PORT), (socket.SOCK_STREAM, METRICS))
    if all(_is_free(address, kind, port) for kind, port in wanted):
        return PORT
    while True:
        with _bound(address, socket.SOCK_STREAM, 0) as probe:
            port = probe.getsockname()[1]
            if _is_free(address, socket.SOCK_DGRAM, port):
                return port


def opened(port: int) -> OpenPorts:
    """Return the ports that nodes reach; whoever has a port of ours keeps it, so there are no metrics then."""
    return OpenPorts(tcp=(port, *http_ports(port)), udp=(port,)) if port else OpenPorts()


def opened_with_api(settings: Settings) -> OpenPorts:
    """Return the ports of this machine that nodes reach: the API server's, and those of names."""
    names = opened(settings.dns_port if settings.dns != "none" else 0)
    return OpenPorts((settings.port, *names.tcp), names.udp)


def http_ports(port: int) -> tuple[int, ...]:
    """Return the port of metrics, if there is one beside this port for names."""
    return (METRICS,) if port == PORT else ()


def _is_free(address: str, kind: int, port: int) -> bool:
    with contextlib.suppress(OSError), _bound(address, kind, port):
        return True
    return False


def unbound(address: str, kind: int) -> socket.socket:
    """Return a socket that can be bound to an address, even if that is not there yet."""
    v6 = ":" in address
    probe = socket.socket(socket.AF_INET6 if v6 else socket.AF_INET, kind)
    probe.setsockopt(socket.IPPROTO_IPV6 if v6 else socket.SOL_IP, _FREEBIND_V6 if v6 else _FREEBIND, 1)
    if kind == socket.SOCK_STREAM:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # what an ended server leaves is no bar
    return probe


def _bound(address: str, kind: int, port: int) -> socket.socket:
    probe = unbound(address, kind)
    try:
        probe.bind((address, port))
        if kind == socket.SOCK_STREAM:
            probe.listen(1)
    except OSError:
        probe.close()
        raise
    return probe
