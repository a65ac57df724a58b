"""What is to be done about a Deployment: a pure function of it, its ReplicaSets and the time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pybernetes.control_plane.controllers._workload import conditions
from pybernetes.control_plane.controllers._workload.templates import without_label
from pybernetes.control_plane.controllers.deployment import rolling, sets, status
from pybernetes.control_plane.controllers.deployment.sets import Object, Set

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
    """Decides. ``reference`` is how children refer to the Deployment, ``has_pods`` whether pods of a set still run."""
    return _Planner(deployment, replica_sets, reference, now, has_pods).plan()


class _Planner:
    def __init__(
        self, deployment: Object, replica_sets: list[Object], reference: Object, now: float,
        has_pods: Callable[[Object], bool],
    ) -> None:  # fmt: skip
        self.deployment, self.reference, self.now, self.has_pods = deployment, reference, now, has_pods
        self.new, self.old = sets.split(deployment, [Set(each) for each in replica_sets])
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
        """Brings the new set's annotations up to date; its revision is the Deployment's."""
        new = self.new
        if new is None:
            return
        sets.annotate(self.deployment, new, sets.max_revision(self.old) + 1)
        new.min_ready_seconds = self.deployment["spec"].get("minReadySeconds", 0)
        self.revision = new.annotations.get(sets.REVISION, "")
        if status.has_deadline(self.deployment) and not conditions.find(self.conditions, "Progressing"):
            self.progress("True", "FoundNewReplicaSet", f'Found new replica set "{new.name}"')

    def make_new(self) -> Set:
        """The set for the template, to be created with as many pods as it may have."""
        new = self.new = sets.new_set(self.deployment, self.reference)
        new.replicas = rolling.size_of_new(self.deployment, new, self.everything)
        sets.annotate(self.deployment, new, sets.max_revision(self.old) + 1)
        sets.note_size(self.deployment, new)
        self.revision = new.annotations[sets.REVISION]
        if status.has_deadline(self.deployment):
            self.progress("True", "NewReplicaSetCreated", f'Created new replica set "{new.name}"')
        return new

    def roll_back(self) -> bool:
        """Takes the template of an earlier revision if an annotation asks for it, as old clients do."""
        meta = self.deployment["metadata"]
        wanted = (meta.get("annotations") or {}).get(sets.ROLLBACK_TO, "")
        if not wanted.lstrip("+-").isdecimal():
            return False
        revision = int(wanted) or _last_revision(self.everything)
        found = next((each for each in self.everything if revision and each.revision == revision), None)
        annotations = {name: value for name, value in meta["annotations"].items() if name != sets.ROLLBACK_TO}
        deployment, events = self.deployment, self.result.events
        if found is None:
            text = (
                "Unable to find the revision to rollback to." if revision else "Unable to find last revision."
            )
            events.append(("Warning", "DeploymentRollbackRevisionNotFound", text))
        elif sets.same_template(found.obj["spec"]["template"], deployment["spec"]["template"]):
            text = f'The rollback revision contains the same template as current deployment "{meta["name"]}"'
            events.append(("Warning", "DeploymentRollbackTemplateUnchanged", text))
        else:
            template = without_label(found.obj["spec"]["template"], sets.HASH_LABEL)
            deployment = {**deployment, "spec": {**deployment["spec"], "template": template}}
            theirs = {k: v for k, v in found.annotations.items() if k not in sets.NOT_COPIED}
            annotations = {k: v for k, v in annotations.items() if k in sets.NOT_COPIED} | theirs
            text = f'Rolled back deployment "{meta["name"]}" to revision {revision}'
            events.append(("Normal", "DeploymentRollback", text))
        self.result.replace = {**deployment, "metadata": {**meta, "annotations": annotations}}
        return True

    def clean_up(self) -> None:
        """Deletes the oldest sets without pods beyond those that are kept for rolling back."""
        limit = self.deployment["spec"].get("revisionHistoryLimit", 2**31 - 1)
        old = [each for each in self.old if "deletionTimestamp" not in each.obj["metadata"]]
        old.sort(key=lambda each: (each.revision or 0, *each.age))
        for each in old[: max(0, len(old) - limit)]:
            meta = each.obj["metadata"]
            settled = meta.get("generation", 0) <= each.seen("observedGeneration")
            if settled and not each.replicas and not each.seen("replicas"):
                self.result.delete.append(each.obj)

    # -- rolling out -------------------------------------------------------------------------------------

    def roll(self) -> None:
        """One step: more new pods if there is room, else fewer old ones."""
        deployment = self.deployment
        new = self.new or self.make_new()
        size = rolling.size_of_new(deployment, new, self.everything) if new.stored else new.replicas
        if size != new.replicas:
            new.replicas = size
            return
        rolling.shrink_old(deployment, new, self.old)
        self.clean_up_when_complete()

    def recreate(self) -> None:
        """All old pods go before the first new one comes."""
        active = [each for each in self.old if each.replicas > 0]
        for each in active:
            each.replicas = 0
        if active or any(each.seen("replicas") or self.has_pods(each.obj) for each in self.old):
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
        """Says that the rollout is paused or goes on, so that the deadline does not count the time between."""
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
        for each in self.everything:
            before = each.obj["spec"].get("replicas", 1) if each.stored else 0
            if each.replicas != before:
                sets.note_size(deployment, each)
                way = "up" if each.replicas > before else "down"
                text = f"Scaled {way} replica set {each.name} from {before} to {each.replicas}"
                result.events.append(("Normal", "ScalingReplicaSet", text))
            changed = each.changed()
            if changed is not None and each.stored:
                result.update.append(changed)
            elif not each.stored:
                result.create = changed or each.obj
        found = status.calculate(deployment, self.conditions, self.new, self.old, self.now)
        if progress:
            found = status.with_progress(deployment, found, self.new, self.old, self.now)
            result.again = status.check_again(deployment, found, self.now)
        result.status = found
        annotations = deployment["metadata"].get("annotations") or {}
        if self.revision and annotations.get(sets.REVISION) != self.revision:
            result.annotations = {**annotations, sets.REVISION: self.revision}
        return result


def _last_revision(everything: list[Set]) -> int:
    """The second highest revision."""
    known = sorted((each.revision or 0 for each in everything), reverse=True)
    return known[1] if len(known) > 1 else 0
