"""What a server says about its resources, read as an answer of anybody: one that makes no sense names no resource."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.resources.discovery import Resource

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


def of_group(group: Object) -> list[Resource]:
    """Return the resources of a group as aggregated discovery has them."""
    name = (group.get("metadata") or {}).get("name") or ""
    resources = []
    for index, version in enumerate(objects(group, "versions")):
        for entry in objects(version, "resources"):
            kind = entry.get("responseKind")
            known = {**entry, "name": entry.get("resource"), "singularName": entry.get("singularResource"),
                     "kind": kind.get("kind") if isinstance(kind, dict) else None,
                     "namespaced": entry.get("scope") == "Namespaced"}  # fmt: skip
            below = [sub.get("subresource") for sub in objects(entry, "subresources")]
            resources += _resource(name, version.get("version"), known, below, index == 0)
    return resources


def of_list(group: str, version: str, listed: list[Object], preferred: bool) -> list[Resource]:
    """Return the resources of an APIResourceList."""
    names = [name for entry in listed if isinstance(name := entry.get("name"), str)]
    resources = []
    for entry in listed:
        name = entry.get("name")
        if isinstance(name, str) and "/" not in name:
            below = [other[len(name) + 1 :] for other in names if other.startswith(f"{name}/")]
            resources += _resource(group, version, entry, below, preferred)
    return resources


def _resource(group: Any, version: Any, entry: Object, below: list[Any], preferred: bool) -> list[Resource]:
    """Return the resource of an entry; none if what must be a name is no name, whoever says so."""
    name, kind = entry.get("name"), entry.get("kind")
    texts = (group, version, name, kind)
    if not all(isinstance(text, str) and text not in (".", "..") for text in texts) or not (name and kind):
        return []
    assert isinstance(kind, str)
    verbs, short_names, categories = (
        texts_of(entry.get(key)) for key in ("verbs", "shortNames", "categories")
    )
    singular = entry.get("singularName")
    singular = singular if singular and isinstance(singular, str) else kind.lower()
    namespaced = bool(entry.get("namespaced"))
    lists = (verbs, short_names, categories, texts_of(below))
    return [Resource(group, version, name, singular, kind, namespaced, *lists, preferred)]


def objects(value: Object, key: str) -> list[Object]:
    """Return the objects of a list in an answer; what else is in it is left out."""
    listed = value.get(key)
    return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []


def texts_of(listed: Any) -> tuple[str, ...]:
    """Return the texts of a list in an answer; what else is in it is left out."""
    return tuple(text for text in listed if isinstance(text, str)) if isinstance(listed, list) else ()
