"""Which volume fits a claim."""

from __future__ import annotations

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers.persistentvolume_binder import match
from tests.control_plane.controllers.persistentvolume_binder.volumes import claim, reference, volume

GOING = volume("going")
GOING["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("wanted", "volumes", "best"),
    [
        (claim(), [], None),
        (claim("2Gi"), [volume("a", "1Gi"), volume("b", "5Gi"), volume("c", "3Gi")], "c"),
        (claim(), [volume("a"), volume("b")], "a"),
        (claim(), [volume("many", "1Gi", "ReadWriteOnce", "ReadOnlyMany"), volume("one", "9Gi")], "one"),
        (claim("1Gi", "ReadOnlyMany"), [volume("a"), volume("b", "1Gi", "ReadWriteOnce", "ReadOnlyMany")], "b"),
        (claim(), [volume("a", claimRef=reference("other", "other"))], None),
        (claim(), [volume("a"), volume("kept", "9Gi", claimRef=reference(None))], "kept"),
        (claim(), [volume("kept", "9Gi", claimRef=reference("former-uid"))], None),
        (claim(), [volume("a", phase="Released")], None),
        (claim(), [volume("a", storageClassName="fast")], None),
        (claim(storageClassName="fast"), [volume("a"), volume("b", storageClassName="fast")], "b"),
        (claim(volumeMode="Block"), [volume("a"), volume("b", volumeMode="Block")], "b"),
        (claim(selector={"matchLabels": {"disk": "b"}}), [volume("a"), volume("b", "9Gi")], "b"),
        (claim(), [GOING], None),
        (claim(volumeAttributesClassName="gold"), [volume("a"), volume("b", volumeAttributesClassName="gold")], "b"),
    ],
)  # fmt: skip
def test_find(wanted: Object, volumes: list[Object], best: str | None) -> None:
    chosen = match.find(wanted, volumes, delayed=False)
    assert (chosen["metadata"]["name"] if chosen is not None else None) == best


def test_delayed_claims_take_only_what_is_kept_for_them() -> None:
    volumes = [volume("a"), volume("kept", claimRef=reference(None))]
    best = match.find(claim(), volumes, delayed=True)
    assert best is not None
    assert best["metadata"]["name"] == "kept"
    assert match.find(claim(), volumes[:1], delayed=True) is None


@pytest.mark.parametrize(
    ("wanted", "named", "why"),
    [
        (claim(), volume("a"), ""),
        (claim("2Gi"), volume("a"), "requested PV is too small"),
        (claim(), volume("a", storageClassName="fast"), "storageClassName does not match"),
        (claim(), volume("a", volumeAttributesClassName="gold"), "volumeAttributesClassName does not match"),
        (claim(volumeMode="Block"), volume("a"), "incompatible volumeMode"),
        (claim("1Gi", "ReadWriteMany"), volume("a"), "incompatible accessMode"),
        (claim(), GOING, 'the volume is marked for deletion "going"'),
    ],
)
def test_mismatch(wanted: Object, named: Object, why: str) -> None:
    assert match.mismatch(named, wanted) == why
