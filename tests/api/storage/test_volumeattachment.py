import pytest

from pybernetes.api.resource import Object
from pybernetes.api.storage.volumeattachment import RESOURCE
from tests.api.writes import create_errors, created, row, status_errors, update_errors

SPEC = {"attacher": "Example.com", "nodeName": "node", "source": {"persistentVolumeName": "volume"}}
LOWER = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
END = "and must start and end with an alphanumeric character"


def test_starts_unattached() -> None:
    assert created(RESOURCE, {"spec": SPEC, "status": {"attached": True}})["status"] == {"attached": False}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"attacher": ""}, ["spec.attacher: Required value"]),
        (
            {"attacher": "a_" + "b" * 70},
            [
                f'spec.attacher: Invalid value: "a_{"b" * 70}": an RFC 1123 subdomain must consist of alphanumeric '
                f"characters, '-' or '.', {END}",
                "spec.attacher: Too long: may not be more than 63 characters",
            ],
        ),
        ({"nodeName": ""}, [f'spec.nodeName: Invalid value: "": {LOWER}{END}']),
        (
            {"source": {}},
            [
                "spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName"
            ],
        ),
        (
            {"source": {"persistentVolumeName": "a", "inlineVolumeSpec": {}}},
            ["spec.source: Forbidden: must specify exactly one of inlineVolumeSpec and persistentVolumeName"],
        ),
    ],
)
def test_create(change: Object, expected: list[str]) -> None:
    assert create_errors(RESOURCE, {"spec": SPEC | change}) == expected


def test_inline_volume() -> None:
    path = "spec.source.inlineVolumeSpec"
    assert create_errors(
        RESOURCE, {"spec": SPEC | {"source": {"inlineVolumeSpec": {"capacity": {"storage": "1"}}}}}
    ) == [
        f"{path}.capacity: Forbidden: may not be specified in the context of inline volumes",
        f"{path}.csi: Required value: has to be specified in the context of inline volumes",
        f"{path}.accessModes: Required value",
        f"{path}: Required value: must specify a volume type",
    ]
    inline = {"csi": {"driver": "a", "volumeHandle": "h"}, "accessModes": ["ReadWriteOnce"]}
    assert create_errors(RESOURCE, {"spec": SPEC | {"source": {"inlineVolumeSpec": inline}}}) == []


def test_update() -> None:
    changed = {"spec": SPEC | {"nodeName": "other"}}
    assert update_errors(RESOURCE, {"spec": SPEC}, changed) == [
        "spec: Invalid value: null: field is immutable"
    ]


def test_status() -> None:
    status = {"attachError": {"message": "x" * 1025, "errorCode": -1}}
    assert status_errors(RESOURCE, {"spec": SPEC}, status) == [
        "status.attachError.message: Too long: may not be more than 1024 bytes",
        "status.attachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, inclusive",
    ]


def test_columns() -> None:
    assert row(RESOURCE, {"spec": SPEC, "status": {"attached": True}}) == [
        "name", "Example.com", "volume", "node", True,
    ]  # fmt: skip
