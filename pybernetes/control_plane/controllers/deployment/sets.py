"""A Deployment's ReplicaSets while a plan is made: what they have, and what they are to have."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._workload.templates import hash_of, scaled, without_label

PREFIX = "deployment.kubernetes.io/"
REVISION = f"{PREFIX}revision"
HISTORY = f"{PREFIX}revision-history"
DESIRED = f"{PREFIX}desired-replicas"
MAXIMUM = f"{PREFIX}max-replicas"
ROLLBACK_TO = "deprecated.deployment.rollback.to"
HASH_LABEL = "pod-template-hash"
NOT_COPIED = {
    "kubectl.kubernetes.io/last-applied-configuration", REVISION, HISTORY, DESIRED, MAXIMUM, ROLLBACK_TO,
}  # fmt: skip
_LONGEST_HISTORY = 2000
_LONGEST_NAME = 253


class Set:
    """A ReplicaSet: ``replicas``, ``annotations`` and ``min_ready_seconds`` are what it is to have."""

    __slots__ = ("annotations", "min_ready_seconds", "obj", "replicas")

    def __init__(self, obj: Object) -> None:
        self.obj = obj
        self.replicas: int = obj["spec"].get("replicas", 1)
        self.annotations: dict[str, str] = dict(obj["metadata"].get("annotations") or {})
        self.min_ready_seconds: int = obj["spec"].get("minReadySeconds", 0)

    @property
    def name(self) -> str:
        """The name."""
        return self.obj["metadata"]["name"]

    @property
    def stored(self) -> bool:
        """Whether it exists already."""
        return "uid" in self.obj["metadata"]

    @property
    def age(self) -> tuple[str, str]:
        """Sorts old before new."""
        meta = self.obj["metadata"]
        return meta.get("creationTimestamp", "9"), meta["name"]

    def seen(self, count: str) -> int:
        """Return a number of the set's status."""
        return self.obj.get("status", {}).get(count, 0)

    @property
    def revision(self) -> int | None:
        """Its revision, 0 without one, None if it cannot be read."""
        try:
            return int(self.annotations.get(REVISION, 0))
        except ValueError:
            return None

    def changed(self) -> Object | None:
        """Return the object to store, or None if nothing changed."""
        meta, spec = self.obj["metadata"], self.obj["spec"]
        if (
            self.replicas == spec.get("replicas", 1)
            and self.min_ready_seconds == spec.get("minReadySeconds", 0)
            and self.annotations == (meta.get("annotations") or {})
        ):
            return None
        return {
            **self.obj,
            "metadata": {**meta, "annotations": self.annotations},
            "spec": {**spec, "replicas": self.replicas, "minReadySeconds": self.min_ready_seconds},
        }


def replicas_of(deployment: Object) -> int:
    """Return how many pods are asked for."""
    return deployment["spec"].get("replicas", 1)


def is_rolling(deployment: Object) -> bool:
    """Return whether pods are replaced little by little."""
    return deployment["spec"].get("strategy", {}).get("type") == "RollingUpdate"


def fenceposts(deployment: Object) -> tuple[int, int]:
    """Return max surge and max unavailable; at least one of them is not 0, or nothing could move."""
    rolling = deployment["spec"].get("strategy", {}).get("rollingUpdate") or {}
    replicas = replicas_of(deployment)
    surge = scaled(rolling.get("maxSurge"), replicas, up=True)
    unavailable = scaled(rolling.get("maxUnavailable"), replicas, up=False)
    return surge, unavailable if surge or unavailable else 1


def max_surge(deployment: Object) -> int:
    """Return how many extra pods a rollout may have."""
    return fenceposts(deployment)[0] if is_rolling(deployment) else 0


def max_unavailable(deployment: Object) -> int:
    """Return how many pods may be unavailable during a rollout."""
    replicas = replicas_of(deployment)
    return min(fenceposts(deployment)[1], replicas) if is_rolling(deployment) and replicas else 0


def same_template(a: Object, b: Object) -> bool:
    """Return whether two templates differ in nothing but the hash label."""
    return without_label(a, HASH_LABEL) == without_label(b, HASH_LABEL)


def split(deployment: Object, sets: Iterable[Set]) -> tuple[Set | None, list[Set]]:
    """Return the set with the Deployment's template, the oldest if there are several, and the others by age."""
    template = deployment["spec"]["template"]
    new: Set | None = None
    old = []
    for replica_set in sorted(sets, key=lambda replica_set: replica_set.age):
        if new is None and same_template(replica_set.obj["spec"]["template"], template):
            new = replica_set
        else:
            old.append(replica_set)
    return new, old


def max_revision(sets: Iterable[Set]) -> int:
    """Return the highest revision that can be read."""
    return max((replica_set.revision or 0 for replica_set in sets), default=0)


def annotate(deployment: Object, new: Set, revision: int) -> None:
    """Give the new set the Deployment's annotations and its revision; the old revision goes into its history."""
    for name, value in (deployment["metadata"].get("annotations") or {}).items():
        if name not in NOT_COPIED:
            new.annotations[name] = value
    before = new.annotations.get(REVISION)
    known = new.revision
    if known is None or known >= revision:
        return
    new.annotations[REVISION] = str(revision)
    if before is not None:
        history = [revision for revision in new.annotations.get(HISTORY, "").split(",") if revision] + [
            before
        ]
        while len(history) > 1 and len(",".join(history)) > _LONGEST_HISTORY:
            history.pop(0)
        new.annotations[HISTORY] = ",".join(history)


def note_size(deployment: Object, replica_set: Set) -> None:
    """Annotate a set with the Deployment's size, by which scaling is told from rolling out."""
    replicas = replicas_of(deployment)
    replica_set.annotations[DESIRED] = str(replicas)
    replica_set.annotations[MAXIMUM] = str(replicas + max_surge(deployment))


def noted(replica_set: Set, annotation: str) -> int | None:
    """Return a number from an annotation of a set."""
    text = replica_set.annotations.get(annotation, "")
    return int(text) if text.isdecimal() and int(text) < 2**31 else None


def new_set(deployment: Object, reference: Object) -> Set:
    """Return the set for the Deployment's template, with no pods yet."""
    meta, spec = deployment["metadata"], deployment["spec"]
    template = spec["template"]
    hash_ = hash_of(template, deployment.get("status", {}).get("collisionCount"))
    template_meta = template.get("metadata", {})
    labels = {**template_meta.get("labels", {}), HASH_LABEL: hash_}
    selector = spec["selector"]
    selector = {**selector, "matchLabels": {**selector.get("matchLabels", {}), HASH_LABEL: hash_}}
    return Set({
        "metadata": {
            "name": f"{meta['name'][: _LONGEST_NAME - len(hash_) - 1]}-{hash_}",
            "namespace": meta["namespace"],
            "labels": labels,
            "ownerReferences": [reference],
        },
        "spec": {
            "replicas": 0,
            "minReadySeconds": spec.get("minReadySeconds", 0),
            "selector": selector,
            "template": {**template, "metadata": {**template_meta, "labels": labels}},
        },
    })  # fmt: skip
