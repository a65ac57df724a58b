"""When a real server that ends has ended."""

from __future__ import annotations

import pytest

from pybernetes.node.proxy.ipvs.ending import Ending, finished, may_go
from pybernetes.node.proxy.ipvs.virtual_servers import Address, RealServer

WEB, DNS = Address("tcp", "10.96.0.10", 80), Address("udp", "10.96.0.10", 53)
ONE, TWO = RealServer("10.244.0.2", 8080), RealServer("10.244.0.3", 8080)


@pytest.mark.parametrize(
    ("address", "connections", "expected"), [(WEB, 0, True), (WEB, 1, False), (DNS, 7, True)]
)
def test_who_may_go(address: Address, connections: int, expected: bool) -> None:
    assert may_go(address, connections) == expected


def test_those_without_connections_have_ended() -> None:
    ending = Ending()
    assert not ending
    for real in (ONE, TWO):
        ending.add(WEB, real)
    assert finished(ending, {WEB: {ONE: 3, TWO: 0}}) == [(WEB, TWO)]
    ending.discard(WEB, TWO)
    assert list(ending) == [(WEB, ONE)] and (WEB, ONE) in ending
    assert finished(ending, {}) == [(WEB, ONE)]  # somebody else removed it
    ending.forget(WEB)
    assert not ending
