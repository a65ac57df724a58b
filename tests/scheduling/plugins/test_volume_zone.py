"""VolumeZone: volumes that are bound to a zone."""

from __future__ import annotations

from tests.scheduling.builders import node
from tests.scheduling.volumes import ZONE, claim, volume, with_claims, world


def test_zones_of_volumes() -> None:
    ours = world(claim("x", volume="v"), volume("v", labels={ZONE: "zone-a__zone-c"}))
    ours.node(node("d"))  # which does not say where it is
    assert ours.why_not(with_claims("p", "x", "missing")).endswith(
        'persistentvolumeclaim "missing" not found.'
    )
    allowed = {ours.decide(with_claims("p", "x")).node for _ in range(40)}
    assert allowed <= {"a", "c", "d"} and "b" not in allowed
    for name in ("a", "c", "d"):
        ours.snapshot.remove_node(name)
    text = "0/1 nodes are available: 1 node(s) had no available volume zone."
    assert ours.why_not(with_claims("p", "x")) == text
