"""Mutating webhooks and policies that are asked a second time, when something else changed the object after them."""

from __future__ import annotations

from collections.abc import Hashable

import orjson

from pybernetes.control_plane.apiserver.admission.attributes import Attributes


class Reinvocation:
    """What a plugin remembers of the first round: who wants to see later changes, and what the object was then."""

    def __init__(self) -> None:
        self.asked: set[Hashable] = set()
        self.again: set[Hashable] = set()
        self.last = b""

    def changed(self) -> None:
        """Note that the object changed: whoever was asked before is asked again."""
        self.again |= self.asked
        self.asked = set()

    def note(self, attributes: Attributes) -> None:
        """Remember what the object is now, if that is anybody's matter."""
        self.last = orjson.dumps(attributes.obj) if self.asked else b""


def reinvocation_of(attributes: Attributes, plugin: str) -> Reinvocation:
    """Return what a plugin remembers of a write; who wants to see what others changed meanwhile is asked again."""
    if attributes.reinvocations is None:
        attributes.reinvocations = {}
    reinvocation = attributes.reinvocations.setdefault(plugin, Reinvocation())
    if attributes.again and reinvocation.asked and reinvocation.last != orjson.dumps(attributes.obj):
        reinvocation.changed()
    return reinvocation
