"""Deleting an object: grace periods, finalizers, and what follows the end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pybernetes.api import errors
from pybernetes.api.resource import Object
from pybernetes.api.table import epoch
from pybernetes.control_plane.apiserver.context import ServerContext, timestamp
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.modify import Transaction, transact
from pybernetes.control_plane.apiserver.storage.options import DeleteOptions
from pybernetes.control_plane.store.protocol import Record
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.event_loop.discarding import discard, discard_later

Admit = Callable[[Object], Awaitable[None]]
ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"
_LAST_MOMENT = 253402300799  # the end of the year 9999: what comes after it is no time stamp


def is_complete(obj: Object) -> bool:
    """Return whether an object that is being deleted has nothing left to wait for."""
    meta = obj["metadata"]
    if not meta.get("deletionTimestamp") or meta.get("finalizers"):
        return False
    if obj["kind"] == "Namespace" and obj["apiVersion"] == "v1" and obj.get("spec", {}).get("finalizers"):
        return False
    return not meta.get("deletionGracePeriodSeconds")


async def after(context: ServerContext, kind: Kind, obj: Object) -> None:
    """Give back to their pools the addresses that a deleted object held, and forget when it was written."""
    times = context.times(kind)
    if times is not None:
        times.deleted(obj)
    allocator = context.allocator(kind)
    if allocator is not None:
        await allocator.release(obj)


def preconditions(kind: Kind, obj: Object, options: DeleteOptions) -> None:
    """Check that the object is the one that the client meant; 409 if not."""
    resource, meta = kind.resource, obj["metadata"]
    name = meta.get("name", "")
    if options.uid is not None and options.uid != meta.get("uid"):
        why = (
            f"the UID in the precondition ({options.uid}) does not match the UID in record ({meta.get('uid', '')}). "
            "The object might have been deleted and then recreated"
        )
        raise errors.conflict(resource.group, resource.kind, name, why)
    if options.resource_version is not None and options.resource_version != meta.get("resourceVersion"):
        why = (
            f"the ResourceVersion in the precondition ({options.resource_version}) does not match the "
            f"ResourceVersion in record ({meta.get('resourceVersion', '')}). The object might have been modified"
        )
        raise errors.conflict(resource.group, resource.kind, name, why)


def wanted_finalizers(kind: Kind, obj: Object, options: DeleteOptions) -> list[str]:
    """Return the finalizers that the propagation policy leaves on the object."""
    present = obj["metadata"].get("finalizers", [])
    kept = [name for name in present if name not in (ORPHAN, FOREGROUND)]
    if options.orphan is not None:
        wanted = ORPHAN if options.orphan else ""
    elif options.policy is not None:
        wanted = {"Orphan": ORPHAN, "Foreground": FOREGROUND}.get(options.policy, "")
    else:
        usual = ORPHAN if kind.resource.propagation == "Orphan" else ""
        if not present and not usual:  # as most are
            return present
        wanted = next((name for name in present if name in (ORPHAN, FOREGROUND)), usual)
    if wanted:
        kept.append(wanted)
    return present if set(kept) == set(present) else kept


def begin(kind: Kind, obj: Object, options: DeleteOptions, now: float) -> bool:
    """Mark the object as being deleted, if it has to wait; return False if it can go at once.

    The object is changed in place.
    """
    meta = obj["metadata"]
    if kind.resource.begin_deletion is not None:
        kind.resource.begin_deletion(obj, _stamp(now))
    finalizers = wanted_finalizers(kind, obj, options)
    if kind.resource.begin_deletion is not None and finalizers and not meta.get("deletionTimestamp"):
        # Upstream has a way of its own here: no grace, no new generation.
        _set_finalizers(meta, finalizers)
        meta["deletionTimestamp"] = _stamp(now)
        return True
    if kind.resource.grace_period is not None:
        grace = min(kind.resource.grace_period(obj, options.grace), int(_LAST_MOMENT - now))
        if meta.get("deletionTimestamp"):
            remaining = meta.get("deletionGracePeriodSeconds", 0)
            if options.grace is None or remaining == 0 or grace >= remaining:
                return bool(remaining) or bool(
                    meta.get("finalizers")
                )  # already under way, nothing shorter asked
            end = epoch(meta["deletionTimestamp"]) - remaining + grace
            if end < now and grace:
                grace = (
                    1  # the time is over, but somebody has to see that the deletion is still a graceful one
                )
            meta["deletionTimestamp"] = _stamp(max(end, now))
            meta["deletionGracePeriodSeconds"] = grace
            return bool(grace) or bool(meta.get("finalizers"))
        # Even an object that goes at once is shown as one that is being deleted.
        meta["deletionTimestamp"] = _stamp(now + grace)
        meta["deletionGracePeriodSeconds"] = grace
        _bump(meta)
        _set_finalizers(meta, finalizers)
        return bool(grace or finalizers)
    _set_finalizers(meta, finalizers)
    if not finalizers:
        return False
    if not meta.get("deletionTimestamp"):
        _bump(meta)
        meta["deletionTimestamp"] = _stamp(now)
    meta["deletionGracePeriodSeconds"] = 0
    return True


def _bump(meta: Object) -> None:
    if meta.get("generation", 0) > 0:
        meta["generation"] += 1


def _set_finalizers(meta: Object, finalizers: list[str]) -> None:
    if finalizers:
        meta["finalizers"] = finalizers
    else:
        meta.pop("finalizers", None)


def _stamp(moment: float) -> str:
    return timestamp(int(moment))


class Deleted:
    """The outcome: the object as it was last, and whether it is gone."""

    __slots__ = ("gone", "obj", "record")

    def __init__(self, obj: Object, gone: bool, record: Record | None = None) -> None:
        self.obj, self.gone, self.record = obj, gone, record


async def delete(
    context: ServerContext,
    kind: Kind,
    key: str,
    name: str,
    options: DeleteOptions,
    admit: Admit | None = None,
) -> Deleted:
    """Delete one object, or start to; ``admit`` is asked with the object before anything happens."""

    async def attempt(transaction: Transaction) -> Deleted:
        before = transaction.record
        if before is None:
            raise errors.not_found(kind.resource.group, kind.resource.plural, name)
        size = len(before.value)
        obj = kind.object(before) if size <= off_loop.LARGE else await off_loop.run(size, kind.object, before)
        discard_later(size, obj)
        preconditions(kind, obj, options)
        if admit is not None:
            await admit(obj)
        waits = begin_for(kind, obj, options, context.clock())
        if options.dry_run:
            return Deleted(obj, not waits)
        if not waits:
            event = await transaction.delete()
            assert event is not None
            obj["metadata"]["resourceVersion"] = str(event.revision)
            return Deleted(obj, True)
        if await off_loop.run(size, _is_unchanged, kind, obj, before):
            return Deleted(obj, False, before)
        record = await transaction.write(obj, size)
        return Deleted(await off_loop.run(size, kind.object, record), False, record)

    deleted = await transact(context.store, kind, key, attempt)
    if deleted.gone and not options.dry_run:
        await after(context, kind, deleted.obj)
    return deleted


def _is_unchanged(kind: Kind, obj: Object, record: Record) -> bool:
    stored = [kind.object(record)]
    is_same = obj == stored[0]
    discard(stored)
    return is_same


def begin_for(kind: Kind, obj: Object, options: DeleteOptions, now: float) -> bool:
    """Do what ``begin`` does; a namespace waits for its own finalizers too, and shows that it is terminating."""
    if kind.resource.kind != "Namespace" or kind.resource.group:
        return begin(kind, obj, options, now)
    meta = obj["metadata"]
    _set_finalizers(meta, wanted_finalizers(kind, obj, options))
    if not meta.get("deletionTimestamp"):
        meta["deletionTimestamp"] = _stamp(now)
        _bump(meta)
        obj.setdefault("status", {})["phase"] = "Terminating"
    return bool(obj.get("spec", {}).get("finalizers") or meta.get("finalizers"))
