"""The ConfigMap cluster-autoscaler-status: what the autoscaler thinks of the cluster and of each group. Pure."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.control_plane.autoscaler.cluster.cluster_state import ClusterState, Readiness
from pybernetes.control_plane.autoscaler.cluster.groups import GroupState
from pybernetes.lib import rfc3339

_MOST_BYTES = (1 << 20) - 1024  # of the data of a ConfigMap
LAST_UPDATED = "cluster-autoscaler.kubernetes.io/last-updated"


def node_counts(counts: Readiness) -> Object:
    """Return how many nodes are how."""
    registered: Object = {
        "total": counts.registered,
        "ready": counts.ready,
        "notStarted": counts.not_started,
        "suspended": 0,
    }
    if counts.deleting:
        registered["beingDeleted"] = counts.deleting
    registered["unready"] = {"total": counts.unready, "resourceUnready": 0}
    return {
        "registered": registered,
        "longUnregistered": counts.long_unregistered,
        "unregistered": counts.unregistered,
    }


class Status:
    """Remembers since when each condition has its status."""

    def __init__(self) -> None:
        self._since: dict[tuple[str, str], tuple[str, str]] = {}

    def _condition(self, where: str, name: str, status: str, now: float, **more: Any) -> Object:
        moment = rfc3339.seconds(now)
        before = self._since.get((where, name))
        since = before[1] if before is not None and before[0] == status else moment
        self._since[where, name] = (status, since)
        return {"status": status, **more, "lastProbeTime": moment, "lastTransitionTime": since}

    def make(
        self,
        state: ClusterState,
        groups: Mapping[str, GroupState],
        candidates: Mapping[str, int],
        needed: bool,
        now: float,
    ) -> Object:
        """Return the status as it is written; ``candidates`` are the nodes that are not needed, by group."""
        healthy = "Healthy" if state.is_healthy() else "Unhealthy"
        scale_up = "InProgress" if state.requests else "Needed" if needed else "NoActivity"
        total = sum(candidates.values())
        return {
            "time": moment_text(now),
            "autoscalerStatus": "Running",
            "clusterWide": {
                "health": self._condition("", "health", healthy, now, nodeCounts=node_counts(state.total)),
                "scaleUp": self._condition("", "scaleUp", scale_up, now),
                "scaleDown": self._scale_down("", total, now),
            },
            "nodeGroups": [
                self._group(state, group, candidates.get(group.id, 0), now) for group in groups.values()
            ],
        }

    def _scale_down(self, where: str, candidates: int, now: float) -> Object:
        if not candidates:
            return self._condition(where, "scaleDown", "NoCandidates", now)
        return self._condition(where, "scaleDown", "CandidatesPresent", now, candidates=candidates)

    def _group(self, state: ClusterState, group: GroupState, candidates: int, now: float) -> Object:
        healthy = "Healthy" if state.group_is_healthy(group) else "Unhealthy"
        backoff = state.backoffs.of(group.id, now)
        scale_up, more = "NoActivity", {}
        if group.id in state.requests:
            scale_up = "InProgress"
        elif backoff is not None:
            scale_up = "Backoff"
            more = {"backoffInfo": {"errorCode": backoff.code, "errorMessage": backoff.message}}
        elif group.error:
            more = {"backoffInfo": {"errorCode": "cloudProviderError", "errorMessage": group.error}}
        return {
            "name": group.id,
            "health": self._condition(
                group.id, "health", healthy, now,
                nodeCounts=node_counts(state.readiness.get(group.id, Readiness())), cloudProviderTarget=group.target,
                minSize=group.group.minimum, maxSize=group.group.maximum,
            ),
            "scaleUp": self._condition(group.id, "scaleUp", scale_up, now, **more),
            "scaleDown": self._scale_down(group.id, candidates, now),
        }  # fmt: skip


def moment_text(now: float) -> str:
    """Return a moment as upstream writes it here."""
    fraction = f"{now % 1:.9f}"[1:].rstrip("0").rstrip(".")
    return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(now))}{fraction} +0000 UTC"


def text(status: Object) -> str:
    """Return a status as the text that the ConfigMap has: with so many groups as there is room for."""
    result = _dumped(status)
    groups = kept = status.get("nodeGroups") or []
    while kept and (size := len(result.encode())) > _MOST_BYTES:
        kept = groups[: min(len(kept) - 1, len(kept) * _MOST_BYTES // size)]
        message = f"there is room for {len(kept)} of {len(groups)} node groups"
        head = {name: status[name] for name in ("time", "autoscalerStatus")}
        result = _dumped({**head, "message": message, **status, "nodeGroups": kept})
    return result


def _dumped(status: Object) -> str:
    import yaml

    return yaml.dump(status, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), sort_keys=False)
