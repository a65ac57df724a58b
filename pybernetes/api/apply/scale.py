"""Carry managedFields between a kind and its scale subresource, whose one owned field is the replicas."""

from __future__ import annotations

from collections.abc import Mapping

from pybernetes.api.apply import field_sets, managed_fields
from pybernetes.api.apply.field_sets import LEAF
from pybernetes.api.resource import Object

SCALE_VERSION = "autoscaling/v1"
_REPLICAS = {"f:spec": {"f:replicas": LEAF}}


def path_of(dotted: str) -> tuple[str, ...]:
    """Return the path that ``.spec.replicas`` names, as elements of a field set."""
    return tuple("f:" + name for name in dotted.strip(".").split("."))


def _set_of(path: tuple[str, ...]) -> field_sets.FieldSet:
    node: field_sets.FieldSet = LEAF
    for element in reversed(path):
        node = {element: node}
    return node


def parent_to_scale(entries: list[Object], paths: Mapping[str, tuple[str, ...]]) -> list[Object]:
    """Return the entries that a scale object has: of those who own the replicas of its parent.

    ``paths`` says for each apiVersion of the parent where it keeps the replicas.
    """
    return managed_fields.sort(
        [
            {**item, "apiVersion": SCALE_VERSION, "fieldsV1": _REPLICAS}
            for item in entries
            if item["apiVersion"] in paths and field_sets.has(item["fieldsV1"], *paths[item["apiVersion"]])
        ]
    )


def scale_to_parent(
    parent: list[Object], scale: list[Object], api_version: str, paths: Mapping[str, tuple[str, ...]]
) -> list[Object]:
    """Return the parent's entries after the scale object's were changed by a write."""
    owners = {_writer(item): item for item in scale}
    result = []
    for item in parent:
        path = paths.get(item["apiVersion"])
        if path is None:
            continue
        if field_sets.has(item["fieldsV1"], *path) and owners.pop(_writer(item), None) is None:
            left = field_sets.difference(item["fieldsV1"], _set_of(path))
            if not left:
                continue
            item = {**item, "fieldsV1": left}
        result.append(item)
    times = {_writer(item): item.get("time") for item in parent}
    for writer, item in owners.items():
        if field_sets.has(item["fieldsV1"], "f:spec", "f:replicas"):
            # The time is that of the parent's entry, so a new owner has none, as upstream has it.
            subresource, fields = item.get("subresource", ""), _set_of(paths[api_version])
            manager, operation, time = item["manager"], item["operation"], times.get(writer)
            result.append(managed_fields.entry(manager, operation, api_version, subresource, time, fields))
    return managed_fields.sort(result)


def _writer(item: Object) -> tuple[str, str, str]:
    return item.get("manager", ""), item["operation"], item.get("subresource", "")
