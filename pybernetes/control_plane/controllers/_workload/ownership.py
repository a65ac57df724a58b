"""How the objects that a workload may adopt are found without scanning."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pybernetes.api import selectors
from pybernetes.api.resource import Object
from pybernetes.api.selectors import NOTHING, Selector
from pybernetes.runtime.cache import key_of
from pybernetes.runtime.informer import Informer


def orphans(obj: Object) -> tuple[str, ...]:
    """Index objects that nobody controls by their namespace."""
    meta = obj["metadata"]
    for reference in meta.get("ownerReferences") or ():
        if reference.get("controller"):
            return ()
    return (meta.get("namespace", ""),)


def selector_of(obj: Object) -> Selector:
    """Return the selector of a workload; it matches nothing if it is absent, empty or invalid."""
    selector = obj["spec"].get("selector")
    try:
        return selectors.from_object(selector) if selector else NOTHING
    except selectors.SelectorError:
        return NOTHING


class Selectors:
    """The selectors of the objects in a cache, each read once: one may be a megabyte, and be asked about every pod."""

    def __init__(self, cache: Informer, read: Callable[[Object], Selector] = selector_of) -> None:
        self._cache, self._read = cache, read
        self._known: dict[str, tuple[Object, Selector]] = {}
        cache.add_handler(self._changed)

    def _changed(self, old: Object | None, new: Object | None) -> None:
        if old is not None:
            self._known.pop(key_of(old), None)

    def of(self, obj: Object) -> Selector:
        """Return the selector of an object."""
        key = key_of(obj)
        kept = self._known.get(key)
        if kept is not None and kept[0] is obj:
            return kept[1]
        selector = self._read(obj)
        if self._cache.get(key) is obj:
            self._known[key] = obj, selector
        return selector


def by_selector(obj: Object) -> tuple[str, ...]:
    """Index workloads by namespace and a label that their selector requires, or by namespace alone."""
    return _anchor(obj, (obj["spec"].get("selector") or {}).get("matchLabels"))


def by_plain_selector(obj: Object) -> tuple[str, ...]:
    """Index workloads whose selector is a plain map in the same way."""
    return _anchor(obj, obj["spec"].get("selector"))


def _anchor(obj: Object, labels: Mapping[str, str] | None) -> tuple[str, ...]:
    namespace = obj["metadata"]["namespace"]
    for name, value in (labels or {}).items():
        return (f"{namespace}/{name}={value}",)
    return (f"{namespace}/",)


def anchors(obj: Object) -> list[str]:
    """Return the values of those indexes under which workloads that may select an object are."""
    meta = obj["metadata"]
    namespace = meta["namespace"]
    values = [f"{namespace}/{name}={value}" for name, value in (meta.get("labels") or {}).items()]
    return [*values, f"{namespace}/"]


Matcher = Callable[[Mapping[str, str] | None], bool]


def matcher(selector: Selector) -> Matcher:
    """Return a fast test of labels: most selectors require exact values only."""
    needed = {requirement.key: requirement.values[0] for requirement in selector.requirements if requirement.operator == "in" and len(requirement.values) == 1}  # fmt: skip
    if not needed or len(needed) < len(selector.requirements):
        return selector.matches
    wanted = needed.items()
    return lambda labels: labels is not None and labels.items() >= wanted
