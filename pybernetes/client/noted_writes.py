"""The writes that were made in a context (a reconcile), for whoever must not act before it has seen them."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple

from pybernetes.client import errors
from pybernetes.client.refs import Kindlike, Ref, as_ref
from pybernetes.lib.unsigned import unsigned

if TYPE_CHECKING:
    from pybernetes.api.resource import Object

UNCERTAIN = -1
# Subresources whose answer tells the version of the object itself.
_SAME_OBJECT = frozenset(("", "status", "scale", "finalize", "approval", "ephemeralcontainers", "resize"))


class Written(NamedTuple):
    """A write: ``version`` is the new resourceVersion, 0 after a deletion, UNCERTAIN if its answer was lost."""

    ref: Ref
    namespace: str
    name: str
    version: int
    uid: str
    labels: dict[str, str] | None = None


# Where a context has them noted; None where nobody wants to know.
writes: ContextVar[list[Written] | None] = ContextVar("writes", default=None)


def note(kind: Kindlike, value: Object, subresource: str) -> Object:
    """Note a write, and return what the server answered to it."""
    noted = writes.get()
    if noted is not None and subresource in _SAME_OBJECT:
        meta = value.get("metadata") or {}
        version = unsigned(meta.get("resourceVersion"))
        if version is not None:
            place = (as_ref(kind), meta.get("namespace", ""), meta["name"])
            noted.append(Written(*place, version, meta.get("uid", ""), meta.get("labels")))
    return value


def note_deletion(kind: Kindlike, namespace: str, name: str, uid: str, value: Object) -> None:
    """Note a deletion that the server answered with a Status or with the object."""
    noted = writes.get()
    if noted is not None:
        told = value.get("details" if value.get("kind") == "Status" else "metadata") or {}
        noted.append(Written(as_ref(kind), namespace, name, 0, uid or told.get("uid", "")))


def note_lost(kind: Kindlike, obj: Object, error: Exception) -> None:
    """Note a creation that may have happened although it failed.

    Only a generated name makes a difference: nobody can tell a second creation from the first.
    """
    noted = writes.get()
    lost = (
        error.code == 504 if isinstance(error, errors.StatusError) else not isinstance(error, errors.NotSent)
    )
    if noted is not None and lost and not obj.get("metadata", {}).get("name"):
        noted.append(Written(as_ref(kind), "", "", UNCERTAIN, ""))
