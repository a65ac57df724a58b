"""Which ports kube-dns of a local cluster gets."""

from __future__ import annotations

import os
import socket

import pytest

from pybernetes.tools.local.network import dns_ports
from tests.support import require_program, require_root
from tests.tools.local.host import host


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_somebody_else_who_has_the_usual_port_keeps_it(kind: int) -> None:
    require_root()
    require_program("ip")
    with host(f"dnsports{os.getpid()}"):
        assert dns_ports.choose("172.30.9.1") == dns_ports.PORT  # before the bridge is there
        with socket.socket(socket.AF_INET, kind) as other:
            other.bind(("0.0.0.0", dns_ports.PORT))
            if kind == socket.SOCK_STREAM:
                other.listen()
            port = dns_ports.choose("172.30.9.1")
            assert port != dns_ports.PORT and dns_ports.opened(port).tcp == (port,)
        assert dns_ports.choose("172.30.9.1") == dns_ports.PORT


def test_what_is_open_to_nodes() -> None:
    opened = dns_ports.opened(dns_ports.PORT)
    assert (opened.tcp, opened.udp) == ((dns_ports.PORT, dns_ports.METRICS), (dns_ports.PORT,))
    assert dns_ports.opened(0).tcp == ()
