"""What came of a question, for people and as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pybernetes.scheduling.explanation import Explanation
from pybernetes.tools.what_if.cluster import Cluster, Use
from pybernetes.tools.what_if.simulation import DAEMON, Explained, Placement, Simulation


@dataclass
class Answer:
    """What would happen."""

    question: str
    before: dict[str, Use]  # by node
    after: dict[str, Use] = field(default_factory=dict)
    placements: list[Placement] = field(default_factory=list)
    blocked: list[tuple[str, str, str]] = field(default_factory=list)  # pod, node, why it cannot be evicted
    notes: list[str] = field(default_factory=list)
    explained: list[Explained] = field(default_factory=list)
    result: str = ""  # the answer in a sentence, if it is more than where pods go

    def finish(self, cluster: Cluster, simulation: Simulation) -> Answer:
        """Take over how a simulation ended."""
        self.placements = list(simulation.placements.values())
        self.after = cluster.use()
        self.explained = simulation.explained
        ending = sum(1 for _, pod in cluster.snapshot.placed() if pod.deleting)
        if ending and self.pending:
            self.notes.append(
                f"{ending} pods are ending and still have their place: ask again when they are gone"
            )
        return self

    @property
    def pending(self) -> list[Placement]:
        """The pods that would stay without a node."""
        return [placement for placement in self.placements if not placement.node and not placement.gone]

    @property
    def placed(self) -> list[Placement]:
        """The pods that would get a node, but for those of daemon sets."""
        return [placement for placement in self.placements if placement.node and placement.cause != DAEMON]

    @property
    def gone(self) -> list[Placement]:
        """The pods that would be gone for good."""
        return [placement for placement in self.placements if placement.gone]

    def as_json(self) -> dict[str, Any]:
        """Return the answer as a JSON value."""
        return {
            "question": self.question,
            "result": self.result or None,
            "pods": [_placement(placement) for placement in self.placements],
            "blocked": [{"pod": pod, "node": node, "reason": why} for pod, node, why in self.blocked],
            "notes": self.notes,
            "explanations": [
                {"pod": placement.pod.key, **_explanation(placement.explanation)}
                for placement in self.explained
            ],
            "nodes": {
                name: {
                    "before": _use(self.before.get(name)),
                    "after": _use(self.after.get(name)),
                }
                for name in sorted({*self.before, *self.after})
            },
        }


def _placement(placement: Placement) -> dict[str, Any]:
    return {
        "pod": placement.pod.key,
        "cause": placement.cause,
        "node": placement.node or None,
        "wasOn": placement.was_on or None,
        "state": "gone" if placement.gone else "placed" if placement.node else "pending",
        "message": placement.message or None,
        "preempts": [victim.pod.key for victim in placement.victims],
    }


def _explanation(explanation: Explanation) -> dict[str, Any]:
    return {
        "rejection": explanation.rejection or None,
        "feasible": explanation.feasible,
        "best": list(explanation.best),
        "filters": [
            {"plugin": verdict.plugin, "reason": verdict.reason, "nodes": list(verdict.nodes)}
            for verdict in explanation.verdicts
        ],
        "scores": [
            {"node": scored.node, "total": scored.total, "plugins": scored.parts}
            for scored in explanation.scores
        ],
    }


def _use(use: Use | None) -> dict[str, Any] | None:
    if use is None:
        return None
    return {
        "cpu": f"{use.cpu}m", "allocatableCPU": f"{use.allocatable_cpu}m", "memory": use.memory,
        "allocatableMemory": use.allocatable_memory, "pods": use.pods, "allowedPods": use.allowed_pods,
    }  # fmt: skip
