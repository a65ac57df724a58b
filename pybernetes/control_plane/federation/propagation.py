"""How an object does in each cluster, in kubefed's words, and what its status says of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from pybernetes.api.resource import Object

# Of one cluster. Nothing to say means that all is well.
OK = ""
WAITING_FOR_REMOVAL = "WaitingForRemoval"
CLUSTER_NOT_READY = "ClusterNotReady"
CACHED_RETRIEVAL_FAILED = "CachedRetrievalFailed"
COMPUTE_RESOURCE_FAILED = "ComputeResourceFailed"
APPLY_OVERRIDES_FAILED = "ApplyOverridesFailed"
CREATION_FAILED = "CreationFailed"
UPDATE_FAILED = "UpdateFailed"
DELETION_FAILED = "DeletionFailed"
LABEL_REMOVAL_FAILED = "LabelRemovalFailed"
RETRIEVAL_FAILED = "RetrievalFailed"
ALREADY_EXISTS = "AlreadyExists"
CLIENT_RETRIEVAL_FAILED = "ClientRetrievalFailed"
MANAGED_LABEL_FALSE = "ManagedLabelFalse"
CREATION_TIMED_OUT = "CreationTimedOut"
UPDATE_TIMED_OUT = "UpdateTimedOut"
DELETION_TIMED_OUT = "DeletionTimedOut"
LABEL_REMOVAL_TIMED_OUT = "LabelRemovalTimedOut"
# Ours: the rollout has not come to this cluster yet.
WAITING_FOR_ROLLOUT = "WaitingForRollout"

# Of all clusters together.
CHECK_CLUSTERS = "CheckClusters"
COMPUTE_PLACEMENT_FAILED = "ComputePlacementFailed"
NAMESPACE_NOT_FEDERATED = "NamespaceNotFederated"

CONDITION = "Propagation"
_LONGEST_REMOTE = 16 * 1024


def merged(
    before: Object | None, generation: int, reason: str, clusters: Mapping[str, str], remote: Mapping[str, Any],
    *, updated: bool, now: str,
) -> Object | None:  # fmt: skip
    """Return the new status of a federated object, or None if it stays.

    ``clusters`` says how it does in each; ``remote`` has the status that objects have there, where that is collected;
    ``updated`` says that something was written to a cluster since the last time.
    """
    status = dict(before or {})
    if not reason and any(clusters.values()):
        reason = CHECK_CLUSTERS
    rows = [_row(name, clusters[name], remote.get(name)) for name in sorted(clusters)]
    rows_changed = rows != (status.get("clusters") or [])
    conditions = [dict(condition) for condition in status.get("conditions") or ()]
    own = next((condition for condition in conditions if condition.get("type") == CONDITION), None)
    if own is None:
        own = {"type": CONDITION}
        conditions.append(own)
    new = "False" if reason else "True"
    turned = (own.get("status"), own.get("reason", "")) != (new, reason)
    if not turned and not rows_changed and not updated and status.get("observedGeneration") == generation:
        return None
    if turned:
        own.update(status=new, reason=reason, lastTransitionTime=now)
        if not reason:
            del own["reason"]
    if turned or rows_changed or updated:
        own["lastUpdateTime"] = now
    status |= {"observedGeneration": generation, "conditions": conditions}
    if rows:
        status["clusters"] = rows
    else:
        status.pop("clusters", None)
    return status


def is_shown(status: Any) -> bool:
    """Return whether the status of an object in a member is collected: a large one would leave no room for others."""
    return isinstance(status, dict) and bool(status) and len(orjson.dumps(status)) <= _LONGEST_REMOTE


def _row(name: str, status: str, remote: Any) -> Object:
    row: Object = {"name": name}
    if status:
        row["status"] = status
    if remote is not None:
        row["remoteStatus"] = remote
    return row
