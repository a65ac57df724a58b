"""ControllerRevisions: the templates that a StatefulSet or DaemonSet has had, kept for rolling back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import orjson

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._workload.templates import hash_of

HASH = "controller.kubernetes.io/hash"
POD_LABEL = "controller-revision-hash"  # on pods: the name of their revision, or its hash
_LONGEST_PREFIX = 223


def data_of(owner: Object) -> Object:
    """Return the data of a revision: a strategic merge patch that restores the template."""
    return {"spec": {"template": {**owner["spec"]["template"], "$patch": "replace"}}}


def template_of(revision: Object) -> Object:
    """Return the template that a revision keeps."""
    template = revision["data"]["spec"]["template"]
    return {name: value for name, value in template.items() if name != "$patch"}


def matches(revision: Object, data: Object) -> bool:
    """Return whether a revision has the same data; empty and null fields are ignored."""
    kept = revision.get("data")
    return kept == data or _pruned(kept) == _pruned(data)


def _pruned(value: Any) -> Any:
    if isinstance(value, dict):
        pruned = {name: _pruned(item) for name, item in value.items()}
        return {name: item for name, item in pruned.items() if item is not None and item != {} and item != []}
    return [_pruned(item) for item in value] if isinstance(value, list) else value


def in_order(revisions: Iterable[Object]) -> list[Object]:
    """Sort revisions with the oldest first."""
    return sorted(
        revisions,
        key=lambda revision: (
            revision.get("revision", 0),
            revision["metadata"].get("creationTimestamp", ""),
            revision["metadata"]["name"],
        ),
    )


def new(owner: Object, reference: Object, number: int, collisions: int, label: str) -> Object:
    """Return a revision of the owner's template."""
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
    """The revision of the current template: an existing one, perhaps with a new number, or a new one."""

    revision: Object
    renumbered: bool = False
    is_new: bool = False


def choose(
    owner: Object, reference: Object, revisions: list[Object], collisions: int, label: str = HASH
) -> Choice:
    """Find the revision of the owner's template among the existing ones, in order, or make one."""
    data = data_of(owner)
    number = revisions[-1].get("revision", 0) + 1 if revisions else 1
    same = [revision for revision in revisions if matches(revision, data)]
    if not same:
        return Choice(new(owner, reference, number, collisions, label), is_new=True)
    if same[-1] is revisions[-1]:
        return Choice(same[-1])
    return Choice({**same[-1], "revision": number}, renumbered=True)


def surplus(revisions: list[Object], live: set[str], limit: int) -> list[Object]:
    """Return the oldest revisions beyond a limit; those that are in use are kept and not counted."""
    idle = [revision for revision in revisions if revision["metadata"]["name"] not in live]
    return idle[: max(0, len(idle) - limit)]
