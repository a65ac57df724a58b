"""ControllerRevisions: the templates that a StatefulSet or DaemonSet has had, kept for rolling back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import orjson

from pybernetes.control_plane.controllers._workload.templates import hash_of

Object = dict[str, Any]
HASH = "controller.kubernetes.io/hash"
POD_LABEL = "controller-revision-hash"  # on pods: the name of their revision, or its hash
_LONGEST_PREFIX = 223


def data_of(owner: Object) -> Object:
    """What a revision keeps: a strategic patch that brings the template back."""
    return {"spec": {"template": {**owner["spec"]["template"], "$patch": "replace"}}}


def template_of(revision: Object) -> Object:
    """The template that a revision keeps."""
    template = revision["data"]["spec"]["template"]
    return {name: value for name, value in template.items() if name != "$patch"}


def matches(revision: Object, data: Object) -> bool:
    """Whether a revision keeps the same; what is empty or null means nothing."""
    kept = revision.get("data")
    return kept == data or _pruned(kept) == _pruned(data)


def _pruned(value: Any) -> Any:
    if isinstance(value, dict):
        pruned = {name: _pruned(each) for name, each in value.items()}
        return {name: each for name, each in pruned.items() if each is not None and each != {} and each != []}
    return [_pruned(each) for each in value] if isinstance(value, list) else value


def in_order(revisions: Iterable[Object]) -> list[Object]:
    """Revisions with the oldest first."""
    return sorted(
        revisions,
        key=lambda each: (
            each.get("revision", 0),
            each["metadata"].get("creationTimestamp", ""),
            each["metadata"]["name"],
        ),
    )


def new(owner: Object, reference: Object, number: int, collisions: int, label: str) -> Object:
    """A revision of the owner's template."""
    meta = owner["metadata"]
    # Written in the order of names: some compare revisions byte by byte.
    data = orjson.loads(orjson.dumps(data_of(owner), option=orjson.OPT_SORT_KEYS))
    hash_ = hash_of(data, collisions)
    labels = owner["spec"]["template"].get("metadata", {}).get("labels", {})
    made: Object = {
        "name": f"{meta['name'][:_LONGEST_PREFIX]}-{hash_}",
        "namespace": meta["namespace"],
        "labels": {**labels, label: hash_},
        "ownerReferences": [reference],
    }
    if meta.get("annotations"):
        made["annotations"] = meta["annotations"]
    return {"metadata": made, "data": data, "revision": number}


class Choice(NamedTuple):
    """The revision of the template of now: one that is there, perhaps under a new number, or a new one."""

    revision: Object
    renumbered: bool = False
    is_new: bool = False


def choose(
    owner: Object, reference: Object, revisions: list[Object], collisions: int, label: str = HASH
) -> Choice:
    """Finds the revision of the owner's template among those there are, in order, or makes one."""
    data = data_of(owner)
    number = revisions[-1].get("revision", 0) + 1 if revisions else 1
    same = [each for each in revisions if matches(each, data)]
    if not same:
        return Choice(new(owner, reference, number, collisions, label), is_new=True)
    if same[-1] is revisions[-1]:
        return Choice(same[-1])
    return Choice({**same[-1], "revision": number}, renumbered=True)


def surplus(revisions: list[Object], live: set[str], limit: int) -> list[Object]:
    """The oldest revisions beyond a limit; those that are in use are kept and not counted."""
    idle = [each for each in revisions if each["metadata"]["name"] not in live]
    return idle[: max(0, len(idle) - limit)]
