"""What services ask for becomes balancers of the machine."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.cloud.local import load_balancers
from pybernetes.control_plane.cloud.local.health import Health, HealthChecks, Target
from pybernetes.control_plane.cloud.local.load_balancers import LocalLoadBalancers
from pybernetes.control_plane.cloud.local.machine import LocalInstance
from pybernetes.control_plane.cloud.provider import CloudError
from pybernetes.lib.clock import Clock
from pybernetes.tools.local.settings import GROUP_LABEL, NodeGroup
from tests.control_plane.cloud.clouds import node, service
from tests.control_plane.cloud.local.machines import FakeMachine

POOL = ("172.30.9.200", "172.30.9.201")


def asking(uid: str = "1", annotations: dict[str, str] | None = None, **spec: Any) -> Object:
    obj = service(**spec)
    obj["metadata"] |= {"uid": uid, "annotations": annotations or {}}
    return obj


def at(name: str, address: str, **labels: str) -> Object:
    obj = node(name)
    obj["metadata"]["labels"] = labels
    obj["status"]["addresses"] = [{"type": "InternalIP", "address": address}]
    return obj


@pytest.mark.parametrize(
    ("spec", "present", "taken", "expected"),
    [
        ({}, "", (), POOL[0]),
        ({}, "", POOL[:1], POOL[1]),
        ({}, POOL[1], (), POOL[1]),
        ({"loadBalancerIP": POOL[1]}, POOL[0], (), POOL[1]),
        ({"loadBalancerIP": POOL[1]}, POOL[1], (), POOL[1]),
        ({"loadBalancerIP": POOL[1]}, "", POOL[1:], CloudError),
        ({"loadBalancerIP": "192.0.2.1"}, "", (), CloudError),
        ({}, "", POOL, CloudError),
    ],
)
def test_addresses(spec: dict[str, Any], present: str, taken: tuple[str, ...], expected: Any) -> None:
    if expected is CloudError:
        with pytest.raises(CloudError):
            load_balancers.choose_address(asking(**spec), present, taken, POOL)
    else:
        assert load_balancers.choose_address(asking(**spec), present, taken, POOL) == expected
    known = asking() | {"status": {"loadBalancer": {"ingress": [{"ip": POOL[1]}]}}}
    assert (
        load_balancers.choose_address(known, "", (), POOL) == POOL[1]
    )  # the one that it had before a restart


@pytest.mark.parametrize(
    ("spec", "annotation", "expected"),
    [
        (None, "", ()),
        (["0.0.0.0/0"], "", ()),
        (["10.1.2.3/16", "10.1.0.0/16"], "", ("10.1.0.0/16",)),
        (None, "10.0.0.0/8, 192.0.2.0/24", ("10.0.0.0/8", "192.0.2.0/24")),
        (["10.0.0.0/8"], "192.0.2.0/24", ("10.0.0.0/8",)),
        (["fd00::/8"], "", ("255.255.255.255/32",)),
        (None, "nonsense", CloudError),
    ],
)
def test_source_ranges(spec: list[str] | None, annotation: str, expected: Any) -> None:
    obj = asking(annotations={load_balancers.SOURCE_RANGES: annotation}, loadBalancerSourceRanges=spec)
    if expected is CloudError:
        with pytest.raises(CloudError, match="nonsense"):
            load_balancers.source_ranges(obj)
    else:
        assert load_balancers.source_ranges(obj) == expected


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        (f"{GROUP_LABEL}=edge", ["a", "c"]),
        (f"{GROUP_LABEL} in (edge, service)", ["a", "b", "c"]),
        (f"{GROUP_LABEL}", ["a", "b", "c"]),
        (f"!{GROUP_LABEL}", ["alone"]),
        (f"{GROUP_LABEL}=nobody", []),
    ],
)
def test_a_balancer_in_front_of_a_node_group(selector: str, names: list[str]) -> None:
    groups = {"a": "edge", "b": "service", "c": "edge"}
    nodes = [at(name, "172.30.9.2", **NodeGroup(group).all_labels()) for name, group in groups.items()]
    asked = asking(annotations={load_balancers.NODE_SELECTOR: selector})
    assert load_balancers.chosen(asked, [*nodes, at("alone", "172.30.9.3")]) == names


def test_what_is_wanted() -> None:
    nodes = ["172.30.9.2", "172.30.9.3"]
    plain = load_balancers.wanted(asking(), nodes, POOL[0])
    assert plain.balancer.nodes == ("172.30.9.2", "172.30.9.3") and plain.targets[0].port == 10256
    local = load_balancers.wanted(
        asking(externalTrafficPolicy="Local", healthCheckNodePort=30001, sessionAffinity="ClientIP"), nodes, POOL[0]
    )  # fmt: skip
    assert local.targets[0].port == 30001 and local.balancer.affinity_seconds == 10800
    group = asking(annotations={load_balancers.NODE_SELECTOR: "tier=web"})
    everywhere = [at("a", "172.30.9.2", tier="web"), at("b", "172.30.9.3")]
    assert load_balancers.chosen(group, everywhere) == ["a"]
    assert load_balancers.chosen(asking(), everywhere) == ["a", "b"]
    both = asking(ports=[{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}])
    assert load_balancers.wanted(both, nodes, POOL[0]).balancer.ports == (("UDP", 53), ("TCP", 53))
    other = load_balancers.wanted(
        asking(loadBalancerSourceRanges=["10.0.0.0/8", "fd02::/64"]), [*nodes, "fd01::2"], "fd01::c8"
    )
    assert (other.balancer.nodes, other.balancer.source_ranges) == (("fd01::2",), ("fd02::/64",))
    with pytest.raises(CloudError, match="node-selector"):
        load_balancers.chosen(asking(annotations={load_balancers.NODE_SELECTOR: "a=b=c"}), everywhere)


async def test_from_creation_to_deletion() -> None:
    machine = FakeMachine(
        a=LocalInstance(("127.0.0.1",)), b=LocalInstance(("127.0.0.2",)), hollow=LocalInstance()
    )
    checks = HealthChecks(Clock())
    balancers = LocalLoadBalancers(machine, checks)
    # What nodes say of themselves does not count, nor do nodes that the machine does not have.
    nodes = [at("a", "8.8.8.8"), at("b", "127.0.0.2"), at("stranger", "127.0.0.3"), at("hollow", "127.0.0.4")]
    first, second = Target("127.0.0.1", 10256), Target("127.0.0.2", 10256)
    checks.healths = {first: Health(well=True), second: Health(well=True)}
    given = await balancers.ensure("c", asking(), nodes)
    assert [entry.as_status() for entry in given] == [{"ip": POOL[0], "ipMode": "VIP"}]
    await balancers.ensure("c", asking("2"), nodes)
    with pytest.raises(CloudError, match="all 2 addresses"):
        await balancers.ensure("c", asking("3"), nodes)
    assert machine.balanced[POOL[0]].nodes == ("127.0.0.1", "127.0.0.2")
    checks.healths[second] = Health(refused=True)
    await balancers.refresh()
    assert machine.balanced[POOL[0]].nodes == ("127.0.0.1",)
    await balancers.update("c", asking(), nodes[1:2])
    assert machine.balanced[POOL[0]].nodes == ()  # its only node does not want any
    # Another process of the same cloud finds what there is.
    again = LocalLoadBalancers(machine, HealthChecks(Clock()))
    assert [entry.ip for entry in await again.get("c", asking("2")) or ()] == [POOL[1]]
    assert await again.get("c", asking("3")) is None
    with pytest.raises(CloudError):
        await again.update("c", asking("3"), nodes)
    for _ in range(2):
        await again.delete("c", asking("2"))
    assert set(machine.balanced) == {POOL[0]}
    with pytest.raises(CloudError, match="no addresses of IPv6"):
        await again.ensure("c", asking(ipFamilies=["IPv6"]), nodes)
    moved = asking(loadBalancerIP=POOL[1])
    assert [entry.ip for entry in await again.ensure("c", moved, [])] == [POOL[1]]
    assert set(machine.balanced) == {POOL[1]}


async def test_a_service_of_both_families_has_two_addresses() -> None:
    machine = FakeMachine(a=LocalInstance(("127.0.0.1", "::1")))
    machine.pool = ("172.30.9.200", "fd01::c8", "fd01::c9")
    checks = HealthChecks(Clock())
    checks.healths = {Target(address, 10256): Health(well=True) for address in ("127.0.0.1", "::1")}
    balancers, nodes = LocalLoadBalancers(machine, checks), [node("a")]
    both = asking(ipFamilies=["IPv6", "IPv4"], loadBalancerIP="fd01::c9")
    given = [entry.ip for entry in await balancers.ensure("c", both, nodes)]
    assert (
        given == ["fd01::c9", "172.30.9.200"] == [entry.ip for entry in await balancers.get("c", both) or ()]
    )
    assert {address: entry.nodes for address, entry in machine.balanced.items()} == {
        "fd01::c9": ("::1",),
        "172.30.9.200": ("127.0.0.1",),
    }
    checks.healths[Target("::1", 10256)] = Health(refused=True)
    await balancers.refresh()
    assert machine.balanced["fd01::c9"].nodes == () and machine.balanced["172.30.9.200"].nodes
    # One family fewer: its address goes.
    assert [entry.ip for entry in await balancers.ensure("c", asking(ipFamilies=["IPv4"]), nodes)] == [
        "172.30.9.200"
    ]
    assert set(machine.balanced) == {"172.30.9.200"}
    await balancers.ensure("c", both, nodes)
    await balancers.delete("c", both)
    assert not machine.balanced
