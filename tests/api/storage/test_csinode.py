"""CSINode."""

from pybernetes.api.storage import csinode
from tests.api.writes import create_errors, row, update_errors

NODE = csinode.RESOURCE


def test_node() -> None:
    drivers = [
        {"name": "a", "nodeID": "x" * 257, "topologyKeys": ["k", "k"]},
        {"name": "a", "nodeID": "i"},
        {},
    ]
    assert create_errors(NODE, {"spec": {"drivers": drivers}}) == [
        f'spec.drivers[0].nodeID: Invalid value: "{"x" * 257}": must be 256 characters or less',
        'spec.drivers[0]: Duplicate value: "k"',
        'spec.drivers[1].name: Duplicate value: "a"',
        "spec.drivers[2].name: Required value",
        "spec.drivers[2].nodeID: Required value",
    ]
    node = {"spec": {"drivers": [{"name": "a", "nodeID": "i"}]}}
    more = {
        "spec": {
            "drivers": [
                {"name": "a", "nodeID": "i", "allocatable": {"count": 3}},
                {"name": "b", "nodeID": "i"},
            ]
        }
    }
    assert update_errors(NODE, node, more) == []
    assert len(update_errors(NODE, node, {"spec": {"drivers": [{"name": "a", "nodeID": "j"}]}})) == 1
    assert row(NODE, node) == ["name", 1]
