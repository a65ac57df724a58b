"""Picking targets in turn, and by client."""

from __future__ import annotations

from pybernetes.lib.clock import ManualClock
from pybernetes.node.proxy.endpoint import Target
from pybernetes.node.proxy.userspace.round_robin import RoundRobin

ONE, TWO, THREE = (Target(f"10.0.0.{number}", 80) for number in (1, 2, 3))


def first(balancer: RoundRobin, client: str = "c") -> Target:
    target = balancer.choices(client)[0]
    balancer.chosen(client, target)
    return target


def test_round_robin() -> None:
    balancer = RoundRobin(ManualClock())
    assert balancer.choices("c") == []
    balancer.set((ONE, TWO, THREE), 0)
    assert [first(balancer) for _ in range(6)] == [ONE, TWO, THREE] * 2
    assert balancer.choices("c") == [ONE, TWO, THREE] and balancer.choices("c") == [TWO, THREE, ONE]
    balancer.set((TWO,), 0)
    assert [first(balancer) for _ in range(2)] == [TWO, TWO] and ONE not in balancer


def test_affinity() -> None:
    clock = ManualClock()
    balancer = RoundRobin(clock)
    balancer.set((ONE, TWO, THREE), 60)
    assert [first(balancer, "a") for _ in range(3)] == [ONE] * 3
    assert first(balancer, "b") == TWO
    balancer.set((TWO, THREE), 60)
    assert first(balancer, "b") == TWO
    target = first(balancer, "a")
    clock._elapsed += 50
    assert first(balancer, "a") == target  # each use counts anew
    clock._elapsed += 50
    assert first(balancer, "a") == target
    clock._elapsed += 61
    assert {first(balancer, f"d{number}") for number in range(2)} == {TWO, THREE}
