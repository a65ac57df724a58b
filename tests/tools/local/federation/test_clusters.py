from __future__ import annotations

import ipaddress

import pytest

from pybernetes.tools.local.federation.clusters import member_settings, members


def test_members_have_names_and_ranges_of_their_own() -> None:
    assert members("fed", 3) == ["fed-1", "fed-2", "fed-3"]
    made = [member_settings(number, 1) for number in range(1, 61)]
    ranges = [ipaddress.ip_network(row[name]) for row in made for name in ("pod_range", "service_range")]
    assert len(set(ranges)) == 120 and all(
        network.is_private and network.prefixlen == 16 for network in ranges
    )
    assert member_settings(1, None)["nodes"] == 1 and member_settings(1, 0)["hollow"] == 0


@pytest.mark.parametrize("count", [0, -1, 61])
def test_so_many_members_cannot_be(count: int) -> None:
    with pytest.raises(ValueError, match="--clusters"):
        members("fed", count)
