"""How the objects that a workload may take in are found without looking at all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import orjson

from pybernetes.api import selectors
from pybernetes.api.selectors import NOTHING, Selector

Object = dict[str, Any]


def orphans(obj: Object) -> tuple[str, ...]:
    """Index: the namespace of objects that nobody manages."""
    meta = obj["metadata"]
    for each in meta.get("ownerReferences") or ():
        if each.get("controller"):
            return ()
    return (meta.get("namespace", ""),)


@lru_cache(maxsize=8192)
def _parsed(text: bytes) -> Selector:
    try:
        return selectors.from_object(orjson.loads(text))
    except selectors.SelectorError:
        return NOTHING


def selector_of(obj: Object) -> Selector:
    """What a workload selects; nothing if its selector is absent, empty or wrong."""
    selector = obj["spec"].get("selector")
    return _parsed(orjson.dumps(selector)) if selector else NOTHING


def by_selector(obj: Object) -> tuple[str, ...]:
    """Index of workloads: a label that what they select must have, or the namespace alone."""
    return _anchor(obj, (obj["spec"].get("selector") or {}).get("matchLabels"))


def by_plain_selector(obj: Object) -> tuple[str, ...]:
    """The same for workloads whose selector is a plain map."""
    return _anchor(obj, obj["spec"].get("selector"))


def _anchor(obj: Object, labels: Mapping[str, str] | None) -> tuple[str, ...]:
    namespace = obj["metadata"]["namespace"]
    for name, value in (labels or {}).items():
        return (f"{namespace}/{name}={value}",)
    return (f"{namespace}/",)


def anchors(obj: Object) -> list[str]:
    """Where in those indexes the workloads are that may select an object."""
    meta = obj["metadata"]
    namespace = meta["namespace"]
    found = [f"{namespace}/{name}={value}" for name, value in (meta.get("labels") or {}).items()]
    return [*found, f"{namespace}/"]


Matcher = Callable[[Mapping[str, str] | None], bool]


def matcher(selector: Selector) -> Matcher:
    """A fast test of labels: most selectors ask for certain values only."""
    needed = {each.key: each.values[0] for each in selector.requirements if each.operator == "in" and len(each.values) == 1}  # fmt: skip
    if not needed or len(needed) < len(selector.requirements):
        return selector.matches
    wanted = needed.items()
    return lambda labels: labels is not None and labels.items() >= wanted
