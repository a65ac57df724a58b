"""What went over interfaces."""

from __future__ import annotations

from pybernetes.node.stats import network


def test_interfaces() -> None:
    text = (
        "Inter-|   Receive  |  Transmit\n face |bytes packets errs drop fifo frame compressed multicast|bytes …\n"
        "    lo:     1       1    0    0    0     0          0         0        1       1    0    0    0     0       0          0\n"
        "  eth1:     5       1    0    0    0     0          0         0        6       1    0    0    0     0       0          0\n"
        "  eth0:    10       2    3    4    0     0          0         0       20       5    6    7    0     0       0          0\n"
    )
    interfaces = network.parse(text)
    assert [interface.name for interface in interfaces] == ["eth1", "eth0"]
    assert network.primary_interface(interfaces) == network.Interface("eth0", 10, 2, 3, 4, 20, 5, 6, 7)
    assert network.primary_interface([]) is None and network.interfaces(0) == []
