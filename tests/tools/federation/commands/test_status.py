from __future__ import annotations

from typing import Any

from pybernetes.tools.federation.commands.status import cluster_row, kind_row, table


def obj(status: str, reason: str = "", **clusters: str) -> dict[str, Any]:
    rows = [{"name": name, "status": text} if text else {"name": name} for name, text in clusters.items()]
    return {
        "status": {
            "conditions": [{"type": "Propagation", "status": status, "reason": reason}],
            "clusters": rows,
        }
    }


OBJECTS = [obj("True", one="", two=""), obj("False", "CheckClusters", one="", two="UpdateFailed"), {}]


def test_rows() -> None:
    well = {
        "metadata": {"name": "one"},
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "kubernetesVersion": "v1.37.0",
            "zones": ["a", "b"],
        },
    }
    gone = {
        "metadata": {"name": "two"},
        "status": {"conditions": [{"type": "Offline", "status": "True", "reason": "ClusterNotReachable"}]},
    }
    assert cluster_row(well, OBJECTS) == ["one", "yes", "v1.37.0", "", "a,b", "2", ""]
    assert cluster_row(gone, OBJECTS) == [
        "two",
        "no (ClusterNotReachable)",
        "",
        "",
        "",
        "2",
        "1 UpdateFailed",
    ]
    assert kind_row("FederatedSecret", OBJECTS) == [
        "FederatedSecret",
        "3",
        "1",
        "1 CheckClusters, 1 not looked at yet",
    ]


def test_columns_are_as_wide_as_they_have_to_be() -> None:
    assert table(("A", "LONG"), [["long", "b"], ["c", ""]]) == "A      LONG\nlong   b\nc"
