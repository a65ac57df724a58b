"""What to do with an object because of its owners and dependents. Pure: the garbage collector does it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pybernetes.api.resource import Object

ORPHAN = "orphan"
FOREGROUND = "foregroundDeletion"
# How an owner is: there; gone; or there only until its dependents are gone.
SOLID, ABSENT, WAITING = "solid", "absent", "waiting"


@dataclass(frozen=True)
class Action:
    """``what`` is one of the constants below; the rest says more about it."""

    what: str
    policy: str = ""
    owners: tuple[str, ...] = ()
    unblock: bool = False


NOTHING = Action("nothing")
# Take the owner out of its dependents, then the orphan finalizer off the owner.
ORPHAN_DEPENDENTS = Action("orphan dependents")
# See to the dependents of an owner that is deleted in the foreground.
DELETE_DEPENDENTS = Action("delete dependents")


def is_being_deleted(meta: Object) -> bool:
    """Return whether an object is being deleted."""
    return "deletionTimestamp" in meta


def has_finalizer(meta: Object, name: str) -> bool:
    """Return whether an object waits for something before it goes."""
    return name in (meta.get("finalizers") or ())


def waits_for_dependents(meta: Object) -> bool:
    """Return whether an object goes as soon as its dependents are gone."""
    return is_being_deleted(meta) and has_finalizer(meta, FOREGROUND)


def waits_for_orphaning(meta: Object) -> bool:
    """Return whether an object goes as soon as its dependents no longer name it."""
    return is_being_deleted(meta) and has_finalizer(meta, ORPHAN)


def state_of(meta: Object) -> str:
    """Return the state of an owner that exists."""
    return WAITING if waits_for_dependents(meta) else SOLID


def begin(meta: Object) -> Action | None:
    """Return what the deletion of the object itself asks for; None if its owners decide."""
    if waits_for_orphaning(meta):
        return ORPHAN_DEPENDENTS
    if waits_for_dependents(meta):
        return DELETE_DEPENDENTS
    if is_being_deleted(meta) or not meta.get("ownerReferences"):
        return NOTHING
    return None


def decide(meta: Object, states: Sequence[str], dependents: Iterable[Object]) -> Action:
    """Decide about an object whose owners are in these states; ``dependents`` is their metadata."""
    references = meta["ownerReferences"]
    if SOLID in states:
        gone = tuple(
            reference["uid"] for reference, state in zip(references, states, strict=True) if state != SOLID
        )
        return Action("unlink", owners=gone) if gone else NOTHING
    own = list(dependents)
    if WAITING in states and own:
        # An owner and a dependent that both wait could be a circle: then nobody must wait for this one.
        return Action("delete", policy="Foreground", unblock=any(map(waits_for_dependents, own)))
    if has_finalizer(meta, ORPHAN):
        return Action("delete", policy="Orphan")
    if has_finalizer(meta, FOREGROUND):
        return Action("delete", policy="Foreground")
    return Action("delete", policy="Background")


def blocks(meta: Object, owner: str) -> bool:
    """Return whether an owner that is deleted in the foreground has to wait for this dependent."""
    return any(
        reference["uid"] == owner and reference.get("blockOwnerDeletion")
        for reference in meta.get("ownerReferences") or ()
    )


def unblocked(old: Sequence[Object], new: Sequence[Object]) -> list[Object]:
    """Return the references of ``old`` whose owner no longer has to wait for the object."""
    after = {reference["uid"]: reference for reference in new}
    return [
        reference
        for reference in old
        if reference.get("blockOwnerDeletion")
        and not after.get(reference["uid"], {}).get("blockOwnerDeletion")
    ]


# -- changes of metadata, as merge patches ------------------------------------------------------------------


def without_owners(meta: Object, owners: Iterable[str]) -> Object | None:
    """Return the patch that removes owners from the references; None if they are not there."""
    gone = set(owners)
    references = meta.get("ownerReferences") or []
    kept = [reference for reference in references if reference["uid"] not in gone]
    return {"ownerReferences": kept} if len(kept) != len(references) else None


def without_blocking(meta: Object) -> Object | None:
    """Return the patch after which no owner waits for the object; None if none does."""
    references = meta.get("ownerReferences") or []
    if not any(reference.get("blockOwnerDeletion") for reference in references):
        return None
    return {"ownerReferences": [{**reference, "blockOwnerDeletion": False} for reference in references]}


def without_finalizer(meta: Object, name: str) -> Object | None:
    """Return the patch that removes a finalizer; None if it is not there."""
    finalizers = meta.get("finalizers") or []
    return (
        {"finalizers": [finalizer for finalizer in finalizers if finalizer != name]}
        if name in finalizers
        else None
    )
