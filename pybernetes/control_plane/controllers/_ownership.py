"""What to do with an object because of its owners and dependents. Pure: the garbage collector does it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]
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


def is_going(meta: Object) -> bool:
    """Whether an object is being deleted."""
    return "deletionTimestamp" in meta


def has_finalizer(meta: Object, name: str) -> bool:
    """Whether an object waits for something before it goes."""
    return name in (meta.get("finalizers") or ())


def waits_for_dependents(meta: Object) -> bool:
    """Whether an object goes as soon as its dependents are gone."""
    return is_going(meta) and has_finalizer(meta, FOREGROUND)


def waits_for_orphaning(meta: Object) -> bool:
    """Whether an object goes as soon as its dependents no longer name it."""
    return is_going(meta) and has_finalizer(meta, ORPHAN)


def state_of(meta: Object) -> str:
    """How an owner is that exists."""
    return WAITING if waits_for_dependents(meta) else SOLID


def begin(meta: Object) -> Action | None:
    """What the deletion of the object itself asks for; None if its owners have to be looked at."""
    if waits_for_orphaning(meta):
        return ORPHAN_DEPENDENTS
    if waits_for_dependents(meta):
        return DELETE_DEPENDENTS
    if is_going(meta) or not meta.get("ownerReferences"):
        return NOTHING
    return None


def decide(meta: Object, states: Sequence[str], dependents: Iterable[Object]) -> Action:
    """What becomes of an object whose owners are in these states; dependents are the metadata of those it has."""
    references = meta["ownerReferences"]
    if SOLID in states:
        gone = tuple(each["uid"] for each, state in zip(references, states, strict=True) if state != SOLID)
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
    """Whether an owner that is deleted in the foreground has to wait for this dependent."""
    return any(
        each["uid"] == owner and each.get("blockOwnerDeletion") for each in meta.get("ownerReferences") or ()
    )


def unblocked(old: Sequence[Object], new: Sequence[Object]) -> list[Object]:
    """The references of ``old`` whose owner no longer has to wait for the object."""
    after = {each["uid"]: each for each in new}
    return [
        each
        for each in old
        if each.get("blockOwnerDeletion") and not after.get(each["uid"], {}).get("blockOwnerDeletion")
    ]


# -- changes of metadata, as merge patches ------------------------------------------------------------------


def without_owners(meta: Object, owners: Iterable[str]) -> Object | None:
    """The patch that takes owners out of the references; None if they are not there."""
    gone = set(owners)
    references = meta.get("ownerReferences") or []
    kept = [each for each in references if each["uid"] not in gone]
    return {"ownerReferences": kept} if len(kept) != len(references) else None


def without_blocking(meta: Object) -> Object | None:
    """The patch after which no owner waits for the object; None if none does."""
    references = meta.get("ownerReferences") or []
    if not any(each.get("blockOwnerDeletion") for each in references):
        return None
    return {"ownerReferences": [{**each, "blockOwnerDeletion": False} for each in references]}


def without_finalizer(meta: Object, name: str) -> Object | None:
    """The patch that takes a finalizer off; None if it is not there."""
    finalizers = meta.get("finalizers") or []
    return {"finalizers": [each for each in finalizers if each != name]} if name in finalizers else None
