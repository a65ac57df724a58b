"""Which taints say that a node only starts, and which say nothing about the nodes that a group gets later. Pure."""

from __future__ import annotations

from typing import NamedTuple

TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler"
CANDIDATE = "DeletionCandidateOfClusterAutoscaler"
# A node that has one of these takes no pods yet, whatever its conditions say.
_NOT_READY = frozenset(
    {
        "node.kubernetes.io/not-ready", "node.kubernetes.io/disk-pressure", "node.kubernetes.io/network-unavailable",
        "node.cloudprovider.kubernetes.io/uninitialized",
    }
)  # fmt: skip
_OLDER, _STATUS = (
    "ignore-taint.cluster-autoscaler.kubernetes.io/",
    "status-taint.cluster-autoscaler.kubernetes.io/",
)
_STARTING = ("startup-taint.cluster-autoscaler.kubernetes.io/", _OLDER)
# Taints that come and go with a node's condition, or are ours.
_PASSING = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", _STATUS,
            "cloud.google.com/impending-node-termination", "NodeWithImpairedVolumes", TO_BE_DELETED, CANDIDATE)  # fmt: skip
_REPORTED = frozenset(
    {
        *(f"node.kubernetes.io/{name}" for name in ("not-ready", "unreachable", "unschedulable", "memory-pressure",
                                                    "disk-pressure", "network-unavailable", "pid-pressure")),
        "node.cloudprovider.kubernetes.io/uninitialized", "node.cloudprovider.kubernetes.io/shutdown",
        "cloud.google.com/impending-node-termination", "NodeWithImpairedVolumes", TO_BE_DELETED, CANDIDATE,
    }
)  # fmt: skip
_LASTING = frozenset({"node.kubernetes.io/out-of-service"})


class TaintRules(NamedTuple):
    """What the flags say: taints that nodes have only while they start, by name or by prefix, and those that say nothing."""

    startup: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()
    status: frozenset[str] = frozenset()

    def starting(self, key: str) -> bool:
        """Return whether a node has this taint only while it starts."""
        return key in self.startup or key.startswith(_STARTING + self.prefixes)

    def unready(self, key: str) -> bool:
        """Return whether a node with this taint counts as one that is not ready."""
        return key in _NOT_READY or self.starting(key)

    def kind(self, key: str) -> str:
        """Return what a taint is counted as: others could think out any number of names."""
        if key.startswith(_OLDER):
            return _OLDER
        if key in _REPORTED:
            return key
        if self.starting(key):
            return "startup-taint"
        return "status-taint" if key in self.status or key.startswith(_STATUS) else "other"

    def passing(self, key: str) -> bool:
        """Return whether a taint says nothing about the nodes that a group gets later."""
        if key in _LASTING:
            return False
        return key in self.status or self.starting(key) or key.startswith(_PASSING)
