"""Address ranges for nodes, cut from those of the cluster."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.control_plane.controllers.node_ipam import cidrs, node_ipam
from pybernetes.control_plane.controllers.node_ipam.cidrs import CidrSet, Exhausted
from pybernetes.lib import flags


def cidr_sets(cluster: str, **changes: Any) -> list[CidrSet]:
    options = flags.defaults(node_ipam.CONTROLLER.flags, cluster_cidr=cluster, **changes)
    return cidrs.sets(options)


def test_parts_of_a_range() -> None:
    [parts] = cidr_sets("10.244.0.0/22")
    assert [parts.allocate() for _ in range(4)] == [
        "10.244.0.0/24", "10.244.1.0/24", "10.244.2.0/24", "10.244.3.0/24",
    ]  # fmt: skip
    with pytest.raises(Exhausted):
        parts.allocate()
    parts.release("10.244.2.0/24")
    assert parts.allocate() == "10.244.2.0/24"
    with pytest.raises(ValueError, match="out the range"):
        parts.occupy("10.0.0.0/24")


def test_services_and_what_is_taken_are_left_out() -> None:
    [parts] = cidr_sets("10.244.0.0/22", service_cluster_ip_range="10.244.0.0/23,fd00::/112")
    parts.occupy("10.244.2.0/24")
    assert parts.allocate() == "10.244.3.0/24"
    # A part that was just given back is the last to be given again.
    [parts] = cidr_sets("10.244.0.0/22")
    first = parts.allocate()
    parts.release(first)
    assert parts.allocate() == "10.244.1.0/24"


def test_two_families() -> None:
    four, six = cidr_sets("10.244.0.0/16,fd00:10::/56")
    assert (four.allocate(), six.allocate()) == ("10.244.0.0/24", "fd00:10::/64")
    four, six = cidr_sets(
        "10.244.0.0/16,fd00:10::/56", node_cidr_mask_size_ipv4=26, node_cidr_mask_size_ipv6=60
    )
    assert (four.allocate(), six.allocate()) == ("10.244.0.0/26", "fd00:10::/60")


@pytest.mark.parametrize(
    ("cluster", "changes", "message"),
    [
        ("", {}, "Must specify --cluster-cidr"),
        ("10.0.0.0/8,10.1.0.0/16", {}, "not configured as dual stack"),
        ("10.0.0.0/26", {}, "mask size of cluster CIDR"),
        ("fd00::/40", {}, "too big"),
        ("10.0.0.0/8,fd00::/56", {"node_cidr_mask_size": 24}, "not allowed with dual-stack"),
        ("10.0.0.0/8", {"node_cidr_mask_size": 24, "node_cidr_mask_size_ipv4": 24}, "is not allowed if"),
        ("10.0.0.0/8", {"node_cidr_mask_size_ipv6": 64}, "single-stack IPv4"),
        ("fd00::/56", {"node_cidr_mask_size_ipv4": 24}, "single-stack IPv6"),
        ("nonsense", {}, "nonsense"),
    ],
)
def test_flags_that_do_not_fit(cluster: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cidr_sets(cluster, **changes)
