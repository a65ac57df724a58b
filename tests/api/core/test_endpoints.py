"""Endpoints."""

import pytest

from pybernetes.api.core import endpoints
from pybernetes.api.resource import Object
from tests.api.writes import create, row_by_name


@pytest.mark.parametrize(
    ("subset", "expected"),
    [
        ({}, ["subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"]),
        ({"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 1}]}, []),
        ({"addresses": [{"ip": "127.0.0.1"}]},
         ['subsets[0].addresses[0].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)']),
        ({"notReadyAddresses": [{"ip": "x"}]},
         ['subsets[0].notReadyAddresses[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
          'subsets[0].notReadyAddresses[0].ip: Invalid value: "x": must be a valid IP address']),
        ({"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 1, "name": "a"}, {"port": 2, "protocol": "X"}]},
         ["subsets[0].ports[1].name: Required value",
          'subsets[0].ports[1].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"']),
    ],
)  # fmt: skip
def test_endpoints(subset: Object, expected: list[str]) -> None:
    """CVE-2021-25737: endpoints could lead to a node's own addresses."""
    assert create(endpoints.RESOURCE, {"subsets": [subset]})[1] == expected


@pytest.mark.parametrize(
    ("subsets", "expected"),
    [
        ([], "<none>"),
        ([{"addresses": [{"ip": "1.1.1.1"}, {"ip": "fd00::1"}], "ports": [{"port": 80}]}], "1.1.1.1:80,[fd00::1]:80"),
        ([{"addresses": [{"ip": "fd00::1"}]}], "fd00::1"),
        ([{"addresses": [{"ip": f"1.1.1.{n}"} for n in range(4)], "ports": [{"port": 80}, {"port": 81}]}],
         "1.1.1.0:80,1.1.1.1:80,1.1.1.2:80 + 5 more..."),
    ],
)  # fmt: skip
def test_columns_of_endpoints(subsets: list[Object], expected: str) -> None:
    assert (
        row_by_name(endpoints.RESOURCE, {"metadata": {"name": "x"}, "subsets": subsets})["Endpoints"]
        == expected
    )
