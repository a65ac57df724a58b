"""Connections of an address in a real kernel."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator

import pytest

from pybernetes.lib.kernel import connection_table
from tests.node.proxy.namespaces import command, inside, needs_namespaces

pytestmark = needs_namespaces
NAME = f"pybt{os.getpid()}-table"


@pytest.fixture
def namespace() -> Iterator[None]:
    command("ip", "netns", "add", NAME)
    try:
        with inside(NAME):
            command("ip", "link", "set", "lo", "up")
            command("ip", "-6", "address", "add", "fd00::2/128", "dev", "lo", "nodad")
            # The kernel counts connections once a rule asks for them.
            command(
                "nft",
                "add table inet t; add chain inet t c { type filter hook input priority 0 ; }; add rule inet t c ct state new counter",
            )
            yield
    finally:
        subprocess.run(["ip", "netns", "delete", NAME], capture_output=True)


def connections() -> set[tuple[str, str]]:
    """Return where the connections that the kernel remembers are from, and where they lead."""
    lines = [
        line for family in ("ipv4", "ipv6") for line in command("conntrack", "-L", "-f", family).splitlines()
    ]
    pairs = [dict(word.split("=", 1) for word in reversed(line.split()) if "=" in word) for line in lines]
    return {(pair["src"], pair["dst"]) for pair in pairs}


def test_connections_of_an_address_are_forgotten_and_no_others(namespace: None) -> None:
    ways = {
        ("127.0.0.1", "127.0.0.2"),
        ("127.0.0.2", "127.0.0.3"),
        ("127.0.0.3", "127.0.0.4"),
        ("::1", "fd00::2"),
        ("::1", "::1"),
    }
    for source, target in ways:
        with socket.socket(socket.AF_INET6 if ":" in source else socket.AF_INET, socket.SOCK_DGRAM) as asking:
            asking.bind((source, 0))
            asking.sendto(b"?", (target, 9))
    assert connections() == ways
    with connection_table.open_socket() as opened:
        assert connection_table.forget(opened, ["127.0.0.9", "fd00::9"]) == 0
        assert connection_table.forget(opened, ["127.0.0.2", "fd00::2"]) == 3
        assert connection_table.forget(opened, ["127.0.0.2"]) == 0
    assert connections() == {("127.0.0.3", "127.0.0.4"), ("::1", "::1")}
