from random import Random

import pytest

from pybernetes.control_plane.apiserver.services.options import ServiceOptions
from pybernetes.control_plane.apiserver.services.ranges import AddressRange, PortRange, band


@pytest.mark.parametrize(
    ("size", "expected"), [(8, 0), (16, 0), (32, 16), (256, 16), (1024, 64), (4096, 256), (65536, 256)]
)
def test_band_of_addresses(size: int, expected: int) -> None:
    assert band(size, 16, 256, 16) == expected


@pytest.mark.parametrize(
    ("cidr", "first", "last", "size"),
    [
        ("10.0.0.0/24", "10.0.0.1", "10.0.0.254", 254),
        ("10.0.0.0/30", "10.0.0.1", "10.0.0.2", 2),
        ("fd00::/120", "fd00::1", "fd00::ff", 255),
        ("fd00::/64", "fd00::1", "fd00::ffff:ffff:ffff:ffff", 2**64 - 1),
    ],
)
def test_usable_addresses(cidr: str, first: str, last: str, size: int) -> None:
    range_ = AddressRange(cidr)
    assert (range_.address(range_.first), range_.address(range_.last), range_.size) == (first, last, size)


@pytest.mark.parametrize(
    ("ip", "inside"),
    [("10.0.0.1", True), ("10.0.0.254", True), ("10.0.0.0", False), ("10.0.0.255", False), ("10.0.1.1", False),
     ("fd00::1", False), ("nonsense", False)],
)  # fmt: skip
def test_contains(ip: str, inside: bool) -> None:
    assert (ip in AddressRange("10.0.0.0/24")) is inside


def test_every_address_is_a_candidate_once_and_the_upper_band_comes_first() -> None:
    candidates = list(AddressRange("10.0.0.0/24").candidates(Random(1)))
    assert len(candidates) == len(set(candidates)) == 254
    last_bytes = [int(ip.rpartition(".")[2]) for ip in candidates]
    assert min(last_bytes[:238]) == 17
    assert sorted(last_bytes[238:]) == list(range(1, 17))


def test_candidates_of_a_huge_range_start_at_once() -> None:
    assert next(AddressRange("fd00::/64").candidates(Random(1))).startswith("fd00::")


def test_ports_keep_a_lower_band() -> None:
    candidates = list(PortRange(30000, 32767).candidates(Random(1)))
    assert sorted(candidates) == list(range(30000, 32768))
    assert min(candidates[:2682]) == 30086


@pytest.mark.parametrize(
    ("text", "expected"), [("30000-32767", "30000-32767"), ("30000+10", "30000-30010"), ("443", "443-443")]
)
def test_parse_ports(text: str, expected: str) -> None:
    assert str(PortRange.parse(text)) == expected


@pytest.mark.parametrize("text", ["", "a-b", "0-10", "10-5", "1-70000"])
def test_bad_ports(text: str) -> None:
    with pytest.raises(ValueError, match="range"):
        PortRange.parse(text)


def test_options() -> None:
    options = ServiceOptions.parse("10.1.0.0/16,fd00::/112", "30000-30010")
    assert options.families == ("IPv4", "IPv6")
    assert str(options.node_ports) == "30000-30010"


@pytest.mark.parametrize(
    ("addresses", "ports", "problem"),
    [
        ("10.0.0.0/24,10.1.0.0/24", "30000-32767", "different IP family"),
        ("10.0.0.0/31", "30000-32767", "at least 8"),
        ("10.0.0.1/24", "30000-32767", "host bits"),
        ("fd00::/32", "30000-32767", "shortest allowed prefix"),
        ("10.0.0.0/24", "x", "--service-node-port-range"),
        ("10.0.0.0/24,fd00::/64,fd01::/64", "30000-32767", "more than two"),
    ],
)
def test_bad_options(addresses: str, ports: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        ServiceOptions.parse(addresses, ports)
