"""PodLifeTime: pods that are older than they should get, or have been in a state for too long."""

from __future__ import annotations

import numpy as np

from pybernetes.api.resource import Object
from pybernetes.control_plane.descheduler.argument_types import (
    BOOL,
    INT32,
    STRING,
    STRINGS,
    UINT,
    Many,
    Struct,
    selecting_arguments,
)
from pybernetes.control_plane.descheduler.plugin import DESCHEDULE, Decisions, Outcome, SelectingPlugin
from pybernetes.control_plane.descheduler.pod_records import Condition, PodRecord, has_exited_with, reasons_of
from pybernetes.control_plane.descheduler.view import View

STATES = frozenset(
    ("Running", "Pending", "Succeeded", "Failed", "Unknown", "NodeAffinity", "NodeLost", "Shutdown",
     "UnexpectedAdmissionError", "PodInitializing", "ContainerCreating", "ImagePullBackOff", "CrashLoopBackOff",
     "CreateContainerConfigError", "ErrImagePull", "CreateContainerError", "InvalidImageName", "OOMKilled", "Error",
     "Completed", "DeadlineExceeded", "Evicted", "ContainerCannotRun", "StartError")
)  # fmt: skip
_CONDITION = Struct(
    "podlifetime.PodConditionFilter",
    {"type": STRING, "status": STRING, "reason": STRING, "minTimeSinceLastTransitionSeconds": UINT},
)
_CRITERIA = ("maxPodLifeTimeSeconds", "states", "conditions", "exitCodes")


class PodLifeTime(SelectingPlugin):
    """All criteria that are given must hold; the oldest pods go first."""

    name = "PodLifeTime"
    points = (DESCHEDULE,)
    arguments_type = selecting_arguments(
        "PodLifeTime",
        ownerKinds=Struct("podlifetime.OwnerKinds", {"include": STRINGS, "exclude": STRINGS}),
        maxPodLifeTimeSeconds=UINT, states=STRINGS, conditions=Many(_CONDITION), exitCodes=Many(INT32),
        includingInitContainers=BOOL, includingEphemeralContainers=BOOL,
    )  # fmt: skip

    @classmethod
    def check(cls, arguments: Object) -> list[str]:
        problems = super().check(arguments)
        kinds = arguments.get("ownerKinds") or {}
        if kinds.get("include") and kinds.get("exclude"):
            place = 1 if problems and problems[0].startswith("only one") else 0
            problems.insert(place, "only one of Include/Exclude ownerKinds can be set")
        if not STATES.issuperset(arguments.get("states") or ()):
            problems.append(f"states must be one of [{' '.join(sorted(STATES))}]")
        for index, condition in enumerate(arguments.get("conditions") or ()):
            if not any(condition.get(key) not in (None, "") for key in _CONDITION.fields):
                problems.append(
                    f"conditions[{index}]: at least one of type, status, reason, or "
                    "minTimeSinceLastTransitionSeconds must be set"
                )
        if not any(arguments.get(key) not in (None, []) for key in _CRITERIA):
            problems.append(
                "at least one filtering criterion must be specified (maxPodLifeTimeSeconds, states, conditions, "
                "or exitCodes)"
            )
        return problems

    def decide(self, view: View) -> Decisions:
        picked = self.selected(view)
        longest = self.arguments.get("maxPodLifeTimeSeconds")
        if longest is not None:
            picked &= view.ages > longest
        rows = np.flatnonzero(view.on_nodes(picked)).tolist()
        rows = [row for row in rows if self._matches(view.record(row), view.now) and view.may_leave(row)]
        for row in sorted(rows, key=lambda row: view.record(row).created):
            if (yield row) is Outcome.TOTAL_LIMIT:
                return

    def _matches(self, record: PodRecord, now: float) -> bool:
        given, sorts = self.arguments, record.sorts(self.arguments)
        codes, states = given.get("exitCodes"), given.get("states")
        if codes and not has_exited_with(codes, sorts):
            return False
        if given.get("includingEphemeralContainers"):  # by their states, not by their exit codes
            sorts.append(record.ephemeral)
        if states and (reasons_of(sorts) | {record.phase, record.reason}).isdisjoint(states):
            return False
        kinds, owners = given.get("ownerKinds") or {}, {owner.kind for owner in record.owners}
        if kinds.get("include"):
            if owners.isdisjoint(kinds["include"]):
                return False
        elif not owners.isdisjoint(kinds.get("exclude") or ()):
            return False
        wanted = given.get("conditions")
        return not wanted or any(
            _holds(condition, one, now) for one in wanted for condition in record.conditions
        )


def _holds(condition: Condition, wanted: Object, now: float) -> bool:
    for key, value in (("type", condition.type), ("status", condition.status), ("reason", condition.reason)):
        if wanted.get(key) and wanted[key] != value:
            return False
    least = wanted.get("minTimeSinceLastTransitionSeconds")
    if least is None:
        return True
    idle = now - condition.since  # not a number if the condition does not say since when
    return idle >= 0 and int(idle) >= least


PLUGIN = PodLifeTime
