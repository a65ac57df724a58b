"""The objects that an answer may depend on, and which of them could not be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from pybernetes.api.resource import Object
from pybernetes.client.refs import EVENTS, Ref
from pybernetes.scheduling.explanation import Explanation
from pybernetes.tools.why.finding import Finding


class Need(NamedTuple):
    """Objects to be read: one of a name, or all that are chosen; ``metadata_only`` where no more is anybody's business."""

    ref: Ref
    namespace: str = ""
    name: str = ""
    labels: str = ""
    fields: str = ""
    metadata_only: bool = False


class Question(NamedTuple):
    """How a kind is asked about: what has to be read for an object, and what follows from it. Both are pure.

    ``decide`` gives how the object stands, in a word, and what was found.
    """

    ref: Ref
    names: tuple[str, ...]
    needs: Callable[[Object], list[Need]]
    decide: Callable[[Object, World], tuple[str, list[Finding]]]


class World:
    """What was read."""

    def __init__(self) -> None:
        self._objects: dict[Ref, dict[tuple[str, str], Object]] = {}
        self.refused: dict[Ref, str] = {}  # why a kind could not be read
        self.explanation: Explanation | None = None  # what the scheduler's rules say of a pod without a node
        self.nodes = 0

    def put(self, ref: Ref, objects: Iterable[Object]) -> World:
        """Take objects of a kind; none is also an answer."""
        known = self._objects.setdefault(ref, {})
        for obj in objects:
            meta = obj["metadata"]
            known[meta.get("namespace", "") if ref.namespaced else "", meta["name"]] = obj
        return self

    def is_known(self, ref: Ref) -> bool:
        """Return whether what is not here does not exist."""
        return ref in self._objects and ref not in self.refused

    def get(self, ref: Ref, name: str, namespace: str = "") -> Object | None:
        """Return an object, or None."""
        return self._objects.get(ref, {}).get((namespace if ref.namespaced else "", name))

    def all(self, ref: Ref, namespace: str = "") -> list[Object]:
        """Return the objects of a kind, of one namespace if it is given, by name."""
        known = self._objects.get(ref, {})
        return [obj for (where, _), obj in sorted(known.items()) if not namespace or where == namespace]

    def events(self, *reasons: str) -> list[Object]:
        """Return events with some reason, or all; the newest first."""
        chosen = [event for event in self.all(EVENTS) if not reasons or event.get("reason") in reasons]
        return sorted(chosen, key=_last, reverse=True)

    def message(self, *reasons: str) -> str:
        """Return what the newest event with some reason says; empty if there is none."""
        return next((str(event.get("message") or "") for event in self.events(*reasons)), "")


def _last(event: Object) -> str:
    """Return when an event happened last; timestamps of one form are in the order of their texts."""
    series = event.get("series") or {}
    created = event["metadata"].get("creationTimestamp")
    return (
        series.get("lastObservedTime")
        or event.get("lastTimestamp")
        or event.get("eventTime")
        or created
        or ""
    )


def about(obj: Object) -> Need:
    """Return the events about an object as something to be read."""
    meta = obj["metadata"]
    return Need(
        EVENTS, meta.get("namespace") or "default", fields=f"involvedObject.uid={meta.get('uid', '')}"
    )


def condition(obj: Object, type_: str) -> Object:
    """Return a condition of an object; an empty one if it does not have it."""
    for item in (obj.get("status") or {}).get("conditions") or ():
        if item.get("type") == type_:
            return item
    return {}


def said(item: Object) -> str:
    """Return what a condition, state or event says: its reason and its message."""
    return ": ".join(str(item[key]) for key in ("reason", "message") if item.get(key))
