"""What the scheduler keeps of a node."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

from pybernetes.api import quantity
from pybernetes.api.resource import Object
from pybernetes.scheduling import resource_requests
from pybernetes.scheduling.affinity_terms import Taint, taints_of
from pybernetes.scheduling.resource_requests import Resources

Value = TypeVar("Value")


class ImageSet(NamedTuple):
    """The images that a node has: names, and the size that stands behind each."""

    names: tuple[str, ...]
    sizes: bytes  # as 64-bit numbers: thousands of nodes have dozens of images each

    def size(self, name: str) -> int:
        """Return the size of an image in bytes, or -1 if it is not there."""
        try:
            return array("q", self.sizes)[self.names.index(name)]
        except ValueError:
            return -1


NO_IMAGES = ImageSet((), b"")


class Node(NamedTuple):
    """A node: its name, what it offers, and which pods it turns away."""

    name: str
    labels: dict[str, str]
    taints: tuple[Taint, ...]
    unschedulable: bool
    allowed_pods: int
    allocatable: tuple[tuple[int, int], ...]  # pairs of resource number and amount
    images: ImageSet

    def same_place(self, other: Node) -> bool:
        """Return whether nothing but the allocatable amounts differs."""
        return (
            self.labels == other.labels
            and self.taints == other.taints
            and self.unschedulable == other.unschedulable
            and self.images == other.images
        )


class NodeReader:
    """Makes nodes of API objects, sharing texts that many nodes have."""

    def __init__(self, resources: Resources) -> None:
        self.resources = resources
        self._texts: dict[str, str] = {}
        self._values: dict[Any, Any] = {}

    def read(self, obj: Object) -> Node:
        """Read a node from its API object."""
        meta, spec, status = obj["metadata"], obj.get("spec") or {}, obj.get("status") or {}
        amounts = {name: quantity.parse(text) for name, text in (status.get("allocatable") or {}).items()}
        pods = amounts.pop("pods", None)
        share = self._share
        return Node(
            meta["name"],
            {share(key): share(value) for key, value in (meta.get("labels") or {}).items()},
            self._same(taints_of(spec)),
            bool(spec.get("unschedulable")),
            0 if pods is None else resource_requests.whole("pods", pods),
            self._same(resource_requests.numbers(amounts, self.resources.id)),
            self._images(status.get("images") or ()),
        )

    def _images(self, images: Iterable[Object]) -> ImageSet:
        if not images:
            return NO_IMAGES
        names, sizes = [], array("q")
        for image in images:
            for name in image.get("names") or ():
                names.append(self._share(name))
                sizes.append(image.get("sizeBytes") or 0)
        return self._same(ImageSet(tuple(names), sizes.tobytes()))

    def _share(self, text: str) -> str:
        if len(self._texts) > 100_000:
            self._texts.clear()
        return self._texts.setdefault(text, text)

    def _same(self, value: Value) -> Value:
        if len(self._values) > 10_000:
            self._values.clear()
        return self._values.setdefault(value, value)
