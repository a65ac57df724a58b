"""How federated objects do in each cluster of a federation, from what their status says. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pybernetes.api.resource import Object

CLUSTERS = "kubefedclusters.core.kubefed.io"
TYPES_GROUP = "types.kubefed.io"
_MOST_ROWS = 500
_LONGEST = 300


def cluster_of(cluster: Object) -> dict[str, Any] | None:
    """Return what a page shows of a cluster; None if it is not like one."""
    try:
        status = cluster.get("status") or {}
        conditions = {row["type"]: row for row in status.get("conditions") or ()}
        bad: Object = next(
            (row for row in conditions.values() if row["type"] != "Ready" and row["status"] == "True"), {}
        )
        ready = conditions.get("Ready", {}).get("status") == "True"
        return {
            "name": str(cluster["metadata"]["name"]),
            "namespace": str(cluster["metadata"].get("namespace", "")),
            "address": str((cluster.get("spec") or {}).get("apiEndpoint", "")),
            "region": str(status.get("region", "")),
            "zones": [str(zone) for zone in status.get("zones") or ()],
            "ready": ready,
            "message": "" if ready else str(bad.get("message") or bad.get("reason", ""))[:_LONGEST],
        }
    except (KeyError, TypeError, AttributeError):
        return None  # objects come from others


def object_of(resource: str, kind: str, obj: Object) -> dict[str, Any] | None:
    """Return what a page shows of a federated object: its state in each cluster, empty where it is as it should be."""
    try:
        meta, status = obj["metadata"], obj.get("status") or {}
        own: Object = next(
            (row for row in status.get("conditions") or () if row["type"] == "Propagation"), {}
        )
        clusters = {
            str(row["name"]): str(row.get("status") or "")[:_LONGEST] for row in status.get("clusters") or ()
        }
        current = status.get("observedGeneration", 0) >= meta.get("generation", 0)
        good = own.get("status") == "True" and current and not any(clusters.values())
        return {
            "resource": resource,
            "kind": kind,
            "name": str(meta["name"]),
            "namespace": str(meta.get("namespace", "")),
            "clusters": clusters,
            "reason": str(own.get("reason", ""))[:_LONGEST],
            "state": "good" if good else "wait" if not own or not current else "bad",
        }
    except (KeyError, TypeError, AttributeError):
        return None


_ORDER = {"bad": 0, "wait": 1, "good": 2}


def picture(
    clusters: Iterable[Object], objects: Mapping[tuple[str, str], Iterable[Object]]
) -> dict[str, Any]:
    """Return the clusters, and the objects by their resource and kind: those that are not well first, and not too many."""
    rows = [
        row
        for (resource, kind), listed in objects.items()
        for row in (object_of(resource, kind, obj) for obj in listed)
        if row
    ]
    rows.sort(key=lambda row: (_ORDER[row["state"]], row["namespace"], row["kind"], row["name"]))
    return {
        "clusters": sorted(filter(None, map(cluster_of, clusters)), key=lambda row: row["name"]),
        "objects": rows[:_MOST_ROWS],
        "counts": {state: sum(row["state"] == state for row in rows) for state in _ORDER},
    }
