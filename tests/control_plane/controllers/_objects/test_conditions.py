"""Conditions in a status."""

from __future__ import annotations

from pybernetes.control_plane.controllers._objects import conditions
from tests.control_plane.controllers.builders import NOW, stamp


def test_conditions_keep_their_time() -> None:
    old = [
        {"type": "A", "status": "True", "reason": "x", "lastTransitionTime": stamp(50)},
        {"type": "B", "status": "True"},
    ]
    same = conditions.with_condition(old, conditions.condition("A", "True", "x", "new text", NOW))
    assert same == old
    other = conditions.with_condition(old, conditions.condition("A", "True", "y", "m", NOW))
    assert other[-1]["lastTransitionTime"] == stamp(50) and other[-1]["reason"] == "y"
    turned = conditions.with_condition(old, conditions.condition("A", "False", "x", "m", NOW))
    assert turned[-1]["lastTransitionTime"] == stamp()
