"""What is to be done about a Deployment: a pure function of it, its ReplicaSets and the time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._objects import conditions
from pybernetes.control_plane.controllers._workload.templates import without_label
from pybernetes.control_plane.controllers.deployment import rolling, sets, status
from pybernetes.control_plane.controllers.deployment.sets import Set

Event = tuple[str, str, str]  # type, reason, message


@dataclass
class Plan:
    """What to write, in this order."""

    create: Object | None = None
    update: list[Object] = field(default_factory=list)
    delete: list[Object] = field(default_factory=list)
    replace: Object | None = None  # the Deployment itself, after a rollback
    status: Object | None = None
    annotations: dict[str, str] | None = None  # the Deployment's, if they change with the status
    events: list[Event] = field(default_factory=list)
    again: float | None = None


def plan(
    deployment: Object, replica_sets: list[Object], reference: Object, now: float,
    has_pods: Callable[[Object], bool],
) -> Plan:  # fmt: skip
    """Decide the next step; ``reference`` is the owner reference of children, ``has_pods`` tells whether a set has pods."""
    return _Planner(deployment, replica_sets, reference, now, has_pods).plan()


class _Planner:
    def __init__(
        self, deployment: Object, replica_sets: list[Object], reference: Object, now: float,
        has_pods: Callable[[Object], bool],
    ) -> None:  # fmt: skip
        self.deployment, self.reference, self.now, self.has_pods = deployment, reference, now, has_pods
        self.new, self.old = sets.split(deployment, [Set(replica_set) for replica_set in replica_sets])
        self.conditions: list[Object] = list(deployment.get("status", {}).get("conditions") or ())
        self.revision = ""
        self.result = Plan()

    def plan(self) -> Plan:
        deployment, spec = self.deployment, self.deployment["spec"]
        if not spec.get("selector"):
            text = "This deployment is selecting all pods. A non-empty selector is required."
            self.result.events.append(("Warning", "SelectingAll", text))
            generation = deployment["metadata"].get("generation", 0)
            self.result.status = {**deployment.get("status", {}), "observedGeneration": generation}
            return self.result
        self.sync_revision()
        if "deletionTimestamp" in deployment["metadata"]:
            return self.finish(progress=False)
        self.note_pause()
        if not spec.get("paused") and self.roll_back():
            return self.result
        if spec.get("paused") or rolling.is_scaled(deployment, self.everything):
            rolling.scale(deployment, self.new, self.old)
            if spec.get("paused"):
                self.clean_up()
            return self.finish(progress=False)
        if sets.is_rolling(deployment):
            self.roll()
        else:
            self.recreate()
        return self.finish(progress=True)

    @property
    def everything(self) -> list[Set]:
        return [*self.old, self.new] if self.new is not None else list(self.old)

    # -- revisions ---------------------------------------------------------------------------------------

    def sync_revision(self) -> None:
        """Bring the new set's annotations up to date; its revision is the Deployment's."""
        new = self.new
        if new is None:
            return
        sets.annotate(self.deployment, new, sets.max_revision(self.old) + 1)
        new.min_ready_seconds = self.deployment["spec"].get("minReadySeconds", 0)
        self.revision = new.annotations.get(sets.REVISION, "")
        if status.has_deadline(self.deployment) and not conditions.find(self.conditions, "Progressing"):
            self.progress("True", "FoundNewReplicaSet", f'Found new replica set "{new.name}"')

    def make_new(self) -> Set:
        """Return the set for the template, to be created with as many pods as it may have."""
        new = self.new = sets.new_set(self.deployment, self.reference)
        new.replicas = rolling.size_of_new(self.deployment, new, self.everything)
        sets.annotate(self.deployment, new, sets.max_revision(self.old) + 1)
        sets.note_size(self.deployment, new)
        self.revision = new.annotations[sets.REVISION]
        if status.has_deadline(self.deployment):
            self.progress("True", "NewReplicaSetCreated", f'Created new replica set "{new.name}"')
        return new

    def roll_back(self) -> bool:
        """Restore the template of an earlier revision if an annotation of an old client asks for it."""
        meta = self.deployment["metadata"]
        wanted = (meta.get("annotations") or {}).get(sets.ROLLBACK_TO, "")
        if not wanted.lstrip("+-").isdecimal():
            return False
        revision = int(wanted) or _last_revision(self.everything)
        target = next(
            (replica_set for replica_set in self.everything if revision and replica_set.revision == revision),
            None,
        )
        annotations = {name: value for name, value in meta["annotations"].items() if name != sets.ROLLBACK_TO}
        deployment, events = self.deployment, self.result.events
        if target is None:
            text = (
                "Unable to find the revision to rollback to." if revision else "Unable to find last revision."
            )
            events.append(("Warning", "DeploymentRollbackRevisionNotFound", text))
        elif sets.same_template(target.obj["spec"]["template"], deployment["spec"]["template"]):
            text = f'The rollback revision contains the same template as current deployment "{meta["name"]}"'
            events.append(("Warning", "DeploymentRollbackTemplateUnchanged", text))
        else:
            template = without_label(target.obj["spec"]["template"], sets.HASH_LABEL)
            deployment = {**deployment, "spec": {**deployment["spec"], "template": template}}
            theirs = {name: text for name, text in target.annotations.items() if name not in sets.NOT_COPIED}
            annotations = {
                name: text for name, text in annotations.items() if name in sets.NOT_COPIED
            } | theirs
            text = f'Rolled back deployment "{meta["name"]}" to revision {revision}'
            events.append(("Normal", "DeploymentRollback", text))
        self.result.replace = {**deployment, "metadata": {**meta, "annotations": annotations}}
        return True

    def clean_up(self) -> None:
        """Delete the oldest sets without pods beyond the history limit."""
        limit = self.deployment["spec"].get("revisionHistoryLimit", 2**31 - 1)
        old = [
            replica_set for replica_set in self.old if "deletionTimestamp" not in replica_set.obj["metadata"]
        ]
        old.sort(key=lambda replica_set: (replica_set.revision or 0, *replica_set.age))
        for replica_set in old[: max(0, len(old) - limit)]:
            meta = replica_set.obj["metadata"]
            settled = meta.get("generation", 0) <= replica_set.seen("observedGeneration")
            if settled and not replica_set.replicas and not replica_set.seen("replicas"):
                self.result.delete.append(replica_set.obj)

    # -- rolling out -------------------------------------------------------------------------------------

    def roll(self) -> None:
        """Take one step: more new pods if there is room, else fewer old ones."""
        deployment = self.deployment
        new = self.new or self.make_new()
        size = rolling.size_of_new(deployment, new, self.everything) if new.stored else new.replicas
        if size != new.replicas:
            new.replicas = size
            return
        rolling.shrink_old(deployment, new, self.old)
        self.clean_up_when_complete()

    def recreate(self) -> None:
        """Take one step: all old pods go before the first new one comes."""
        active = [replica_set for replica_set in self.old if replica_set.replicas > 0]
        for replica_set in active:
            replica_set.replicas = 0
        if active or any(
            replica_set.seen("replicas") or self.has_pods(replica_set.obj) for replica_set in self.old
        ):
            return
        new = self.new or self.make_new()
        new.replicas = sets.replicas_of(self.deployment)
        self.clean_up_when_complete()

    def clean_up_when_complete(self) -> None:
        if status.is_complete(self.deployment, self.deployment.get("status", {})):
            self.clean_up()

    # -- the status --------------------------------------------------------------------------------------

    def progress(self, word: str, reason: str, message: str) -> None:
        self.conditions = status.progressing(self.conditions, word, reason, message, self.now)

    def note_pause(self) -> None:
        """Say that the rollout is paused or goes on, so that the deadline does not count the time between."""
        known = conditions.find(self.conditions, "Progressing")
        reason = known.get("reason") if known else ""
        if not status.has_deadline(self.deployment) or reason == "ProgressDeadlineExceeded":
            return
        paused = self.deployment["spec"].get("paused", False)
        if paused and reason != "DeploymentPaused":
            self.progress("Unknown", "DeploymentPaused", "Deployment is paused")
        elif not paused and reason == "DeploymentPaused":
            self.progress("Unknown", "DeploymentResumed", "Deployment is resumed")

    def finish(self, progress: bool) -> Plan:
        result, deployment = self.result, self.deployment
        for replica_set in self.everything:
            before = replica_set.obj["spec"].get("replicas", 1) if replica_set.stored else 0
            if replica_set.replicas != before:
                sets.note_size(deployment, replica_set)
                way = "up" if replica_set.replicas > before else "down"
                text = f"Scaled {way} replica set {replica_set.name} from {before} to {replica_set.replicas}"
                result.events.append(("Normal", "ScalingReplicaSet", text))
            changed = replica_set.changed()
            if changed is not None and replica_set.stored:
                result.update.append(changed)
            elif not replica_set.stored:
                result.create = changed or replica_set.obj
        new_status = status.calculate(deployment, self.conditions, self.new, self.old, self.now)
        if progress:
            new_status = status.with_progress(deployment, new_status, self.new, self.old, self.now)
            result.again = status.check_again(deployment, new_status, self.now)
        result.status = new_status
        annotations = deployment["metadata"].get("annotations") or {}
        if self.revision and annotations.get(sets.REVISION) != self.revision:
            result.annotations = {**annotations, sets.REVISION: self.revision}
        return result


def _last_revision(everything: list[Set]) -> int:
    """Return the second highest revision."""
    known = sorted((replica_set.revision or 0 for replica_set in everything), reverse=True)
    return known[1] if len(known) > 1 else 0
