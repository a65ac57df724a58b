"""Classes that are the default."""

from __future__ import annotations

from pybernetes.api.default_class import INGRESS, default_class
from pybernetes.api.resource import Object


def class_(name: str, made: str, value: str = "true") -> Object:
    return {"metadata": {"name": name, "creationTimestamp": made, "annotations": {INGRESS[0]: value}}}


def test_the_newest_default_class() -> None:
    classes = [class_("c", "2"), class_("b", "2"), class_("a", "1"), class_("d", "3", "false")]
    default = default_class(classes, INGRESS)
    assert default is not None and default["metadata"]["name"] == "b"
    assert default_class(classes[3:], INGRESS) is None
