import pytest

from pybernetes.api.networking.servicecidr import RESOURCE
from tests.api.writes import create_errors, created, row, update_errors

BOTH = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"


def cidrs(*items: str) -> dict[str, dict[str, list[str]]]:
    return {"spec": {"cidrs": list(items)}}


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        (("10.0.0.0/24", "2001:db8::/64"), []),
        ((), ["spec.cidrs: Required value: at least one CIDR required"]),
        (
            ("a", "b", "c"),
            ['spec.cidrs: Invalid value: {"CIDRs":["a","b","c"]}: may only hold up to 2 values'],
        ),
        (
            ("10.0.0.0/24", "10.0.1.0/24"),
            [f'spec.cidrs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: {BOTH}'],
        ),
        (
            ("2001:DB8::/64",),
            ['spec.cidrs[0]: Invalid value: "2001:DB8::/64": must be in canonical form ("2001:db8::/64")'],
        ),
    ],
)
def test_create(items: tuple[str, ...], expected: list[str]) -> None:
    assert create_errors(RESOURCE, cidrs(*items)) == expected


def test_update() -> None:
    single, other, two = cidrs("10.0.0.0/24"), cidrs("10.0.1.0/24"), cidrs("10.0.0.0/24", "2001:db8::/64")
    assert update_errors(RESOURCE, single, two) == []
    assert update_errors(RESOURCE, single, other) == [
        'spec.cidrs[0]: Invalid value: "10.0.1.0/24": field is immutable'
    ]
    assert update_errors(RESOURCE, two, single) == [
        'spec.cidrs: Invalid value: ["10.0.0.0/24"]: field is immutable'
    ]


def test_columns() -> None:
    assert created(RESOURCE, cidrs("10.0.0.0/24"))["status"] == {}
    assert row(RESOURCE, cidrs("10.0.0.0/24", "2001:db8::/64")) == ["name", "10.0.0.0/24,2001:db8::/64"]
