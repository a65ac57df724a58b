"""ImageLocality: nodes that have the images."""

from __future__ import annotations

from pybernetes.api.resource import Object
from tests.scheduling.asking import scores, world
from tests.scheduling.builders import node, pod


def test_images() -> None:
    def with_image(name: str, size: int | None) -> Object:
        obj = node(name)
        if size is not None:
            obj["status"]["images"] = [{"names": ["example/app:1"], "sizeBytes": size * 2**20}]
        return obj

    ours = world(with_image("a", 500), with_image("b", None), with_image("c", 4000))
    # Sizes count by the share of nodes that have the image, between 23 MB and 1000 MB.
    assert scores(ours, "ImageLocality", pod("p")) == {"a": 31, "b": 0, "c": 100}
    assert scores(world(node("a")), "ImageLocality", pod("p")) == {}
