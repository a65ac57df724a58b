"""The class of objects that name none: the newest of those that are marked as the default."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.api.resource import Object

STORAGE = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
INGRESS = ("ingressclass.kubernetes.io/is-default-class",)


def default_class(classes: Iterable[Object], annotations: tuple[str, ...]) -> Object | None:
    """Return the default among the classes, or None."""
    marked = [
        class_
        for class_ in sorted(classes, key=lambda class_: class_["metadata"]["name"])
        if any(class_["metadata"].get("annotations", {}).get(name) == "true" for name in annotations)
    ]
    # Of several of one age, the first by name: max gives the first of equals.
    return max(marked, key=lambda class_: class_["metadata"].get("creationTimestamp") or "", default=None)
