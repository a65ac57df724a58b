"""Which clusters an object belongs into: by their names, or by their labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pybernetes.api import selectors
from pybernetes.api.resource import Object

Clusters = Mapping[str, Mapping[str, str]]  # the labels of every cluster, by its name


def of_object(obj: Object, clusters: Clusters, *, selector_only: bool = False) -> set[str]:
    """Return the clusters that a federated object names; ValueError if its selector is none.

    A list of names counts even if it is empty; without one the selector counts; without both it is no cluster.
    """
    placement: Mapping[str, Any] = (obj.get("spec") or {}).get("placement") or {}
    named = placement.get("clusters")
    if named is not None and not selector_only:
        return {entry["name"] for entry in named} & clusters.keys()
    selector = placement.get("clusterSelector")
    if selector is None:
        return set()
    chosen = selectors.from_object(selector)
    return {name for name, labels in clusters.items() if chosen.matches(labels)}


def of_namespaced(
    obj: Object, namespace: Object | None, clusters: Clusters, *, one_namespace: bool, selector_only: bool = False
) -> set[str]:  # fmt: skip
    """Return the clusters of an object in a namespace: those that its namespace is in, too.

    A control plane for one namespace needs no federated namespace: it is in every member by itself.
    """
    own = of_object(obj, clusters, selector_only=selector_only)
    if namespace is None:
        return own if one_namespace else set()
    return own & of_object(namespace, clusters, selector_only=selector_only)
