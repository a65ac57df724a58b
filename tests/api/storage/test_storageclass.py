import pytest

from pybernetes.api.resource import Object
from pybernetes.api.storage import storageclass
from pybernetes.api.storage.storageclass import RESOURCE
from tests.api.writes import create_errors, created, row, update_errors

CLASS = {"provisioner": "example.com/disk"}


def test_defaults() -> None:
    obj = created(RESOURCE, CLASS)
    assert (obj["reclaimPolicy"], obj["volumeBindingMode"]) == ("Delete", "Immediate")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"provisioner": ""}, ["provisioner: Required value"]),
        ({"parameters": {"": "x"}}, ['parameters: Invalid value: "": field can not be empty.']),
        ({"parameters": {"a": "x" * 2**18}}, ["parameters: Too long: may not be more than 262144 bytes"]),
        (
            {"parameters": {str(n): "" for n in range(513)}},
            ["parameters: Too long: may not be more than 512 bytes"],
        ),
        (
            {"reclaimPolicy": "Recycle", "volumeBindingMode": "Later"},
            [
                'reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"',
                'volumeBindingMode: Unsupported value: "Later": supported values: "Immediate", "WaitForFirstConsumer"',
            ],
        ),
        (
            {
                "allowedTopologies": [
                    {"matchLabelExpressions": [{"key": "a"}, {"key": "a", "values": ["b", "b"]}]}
                ]
            },
            [
                "allowedTopologies[0].matchLabelExpressions[0].values: Required value",
                'allowedTopologies[0].matchLabelExpressions[1].values[1]: Duplicate value: "b"',
                'allowedTopologies[0].matchLabelExpressions[1].key: Duplicate value: "a"',
            ],
        ),
        (
            {"allowedTopologies": [{"matchLabelExpressions": [{"key": "a", "values": ["b"]}]}] * 2},
            ['allowedTopologies[1].matchLabelExpressions: Duplicate value: ""'],
        ),
    ],
)
def test_create(change: Object, expected: list[str]) -> None:
    assert create_errors(RESOURCE, CLASS | change) == expected


def test_update() -> None:
    change = {"parameters": {"a": "b"}, "reclaimPolicy": "Retain"}
    assert update_errors(RESOURCE, CLASS, CLASS | change) == [
        "parameters: Invalid value: null: field is immutable",
        "reclaimPolicy: Invalid value: null: field is immutable",
    ]
    assert update_errors(RESOURCE, CLASS, CLASS | {"allowVolumeExpansion": True}) == []


def test_warnings() -> None:
    term = {"matchLabelExpressions": [{"key": "beta.kubernetes.io/os", "values": ["linux"]}]}
    obj = created(RESOURCE, CLASS | {"allowedTopologies": [term]})
    assert storageclass.warnings(obj, None) == [
        "allowedTopologies[0].matchLabelExpressions[0].key: "
        'deprecated since v1.14; use "kubernetes.io/os" instead'
    ]


def test_columns() -> None:
    marked = {"name": "name", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}
    assert row(RESOURCE, CLASS) == ["name", "example.com/disk", "Delete", "Immediate", False]
    assert row(RESOURCE, CLASS | {"metadata": marked})[0] == "name (default)"
