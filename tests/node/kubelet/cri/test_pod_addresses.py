"""What a network plugin may say about a pod's addresses, and what is made of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.node.kubelet.cri.pod_addresses import pod_addresses


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        (["10.244.0.5"], ("10.244.0.5",)),
        (["10.244.0.5", "fd00::5"], ("10.244.0.5", "fd00::5")),
        (["FD00:0::5", "10.244.0.5"], ("fd00::5", "10.244.0.5")),
        (["10.244.0.5", "10.244.0.6", "fd00::1", "fd00::2"], ("10.244.0.5", "fd00::1")),  # the API takes two
        (["::ffff:10.244.0.5", "10.244.0.6"], ("10.244.0.5",)),
        (["10.244.0.5/24"], ("10.244.0.5",)),
        (["127.0.0.1", "::1", "0.0.0.0", "::", "224.0.0.1", "ff02::1", "10.0.0.7"], ("10.0.0.7",)),
        (["::ffff:127.0.0.1"], ()),
        (["", "10.244.0.300", "10.244.0.5\n10.0.0.1 evil", "fe80::1%eth0", "-1", "x" * 100_000], ()),
        ([], ()),
    ],
)
def test_only_addresses_that_reach_a_pod_are_taken(given_: list[str], expected: tuple[str, ...]) -> None:
    assert pod_addresses(given_) == expected


@given(st.lists(st.text(max_size=40) | st.ip_addresses().map(str), max_size=20))
def test_there_are_at_most_two_and_they_stay_as_they_are(given_: list[str]) -> None:
    addresses = pod_addresses(given_)
    assert len(addresses) <= 2 and pod_addresses(addresses) == addresses
