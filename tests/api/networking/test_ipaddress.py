from typing import Any

import pytest

from pybernetes.api.networking.ipaddress import RESOURCE
from pybernetes.api.resource import Object
from tests.api.writes import create_errors, row, update_errors


def address(name: str = "192.0.2.1", **parent: Any) -> Object:
    return {
        "metadata": {"name": name},
        "spec": {"parentRef": {"resource": "services", "name": "web", **parent}},
    }


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (address(), []),
        (address("2001:db8::1"), []),
        (address("192.0.2.01"), ['metadata.name: Invalid value: "192.0.2.01": must not have leading 0s']),
        (
            address("2001:DB8::1"),
            ['metadata.name: Invalid value: "2001:DB8::1": must be in canonical form ("2001:db8::1")'],
        ),
        ({"metadata": {"name": "192.0.2.1"}}, ["spec.parentRef: Required value"]),
        (
            address(resource="", namespace="a/b"),
            [
                "spec.parentRef.resource: Required value",
                "spec.parentRef.namespace: Invalid value: \"a/b\": may not contain '/'",
            ],
        ),
    ],
)
def test_create(obj: Object, expected: list[str]) -> None:
    assert create_errors(RESOURCE, obj) == expected


def test_update() -> None:
    changed = address(name="192.0.2.1") | {"spec": {"parentRef": {"resource": "services", "name": "other"}}}
    assert update_errors(RESOURCE, address(), changed) == [
        "spec.parentRef: Invalid value: null: field is immutable"
    ]


def test_columns() -> None:
    assert row(RESOURCE, address(group="G", namespace="n"))[1] == "services.g/n/web"
