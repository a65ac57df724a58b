"""What informers keep of objects: only what is needed, because there may be very many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pybernetes.api.resource import Object

Transform = Callable[[Object], Object]


def kept(*paths: str) -> Transform:
    """Return a transform that keeps name, labels and annotations of an object, and some of its fields."""
    wanted = [path.split(".") for path in paths]

    def transform(obj: Object) -> Object:
        meta = obj["metadata"]
        names = ("namespace", "name", "uid", "resourceVersion", "labels", "annotations", "deletionTimestamp",
                 "ownerReferences")  # fmt: skip
        result: Object = {"metadata": {key: meta[key] for key in names if key in meta}}
        for first, *rest in wanted:
            value = obj.get(first)
            if value is None:
                continue
            if not rest:
                result[first] = value
            elif rest[0] in value:
                result.setdefault(first, {})[rest[0]] = value[rest[0]]
        return result

    return transform


def read_as(key: str, read: Callable[[Object], Any]) -> Transform:
    """Return a transform that keeps what a function makes of an object, under a key, and the object's name."""

    def transform(obj: Object) -> Object:
        meta = obj["metadata"]
        names = {"name": meta["name"], "resourceVersion": meta.get("resourceVersion", "")}
        if "namespace" in meta:
            names["namespace"] = meta["namespace"]
        return {"metadata": names, key: read(obj)}

    return transform
