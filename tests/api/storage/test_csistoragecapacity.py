"""CSIStorageCapacity."""

from pybernetes.api.storage import csistoragecapacity
from tests.api.writes import create_errors, update_errors

CAPACITY = csistoragecapacity.RESOURCE


def test_capacity() -> None:
    assert create_errors(CAPACITY, {"storageClassName": "a", "capacity": "-1"}) == [
        'capacity: Invalid value: "-1": must be greater than or equal to 0'
    ]
    changed = {"storageClassName": "b", "nodeTopology": {"matchLabels": {"a": "b"}}}
    assert update_errors(CAPACITY, {"storageClassName": "a"}, changed) == [
        'nodeTopology: Invalid value: {"matchLabels":{"a":"b"}}: field is immutable',
        'storageClassName: Invalid value: "b": field is immutable',
    ]
