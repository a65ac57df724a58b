"""Which values of files are taken for objects."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.resources.object_check import check_metadata


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        {},
        {"name": "a", "labels": {"a": "b", "c": None}, "annotations": None, "generation": 3},
        {
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "finalizers": ["a"],
            "ownerReferences": [{"name": "x"}],
        },
        {"Labels": {"a": 1}},
    ],
)
def test_metadata_that_is_taken(metadata: Any) -> None:
    check_metadata({"metadata": metadata}, "file")


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"labels": {"a": True}}, "bool into Go struct field ObjectMeta.metadata.labels of type string"),
        ({"labels": "a"}, "string into Go struct field ObjectMeta.metadata.labels of type map[string]string"),
        ({"name": [1]}, "array into Go struct field ObjectMeta.metadata.name of type string"),
        ("a", "string into Go struct field metadataOnlyObject.metadata of type v1.ObjectMeta"),
        ({"finalizers": [1]}, "number into Go struct field ObjectMeta.metadata.finalizers of type string"),
        (
            {"ownerReferences": [{"name": 1}]},
            "number into Go struct field OwnerReference.metadata.ownerReferences.name of type string",
        ),
    ],
)
def test_metadata_that_is_refused(metadata: Any, message: str) -> None:
    with pytest.raises(CommandError) as caught:
        check_metadata({"metadata": metadata}, "file")
    assert caught.value.message == f'unable to decode "file": json: cannot unmarshal {message}'
