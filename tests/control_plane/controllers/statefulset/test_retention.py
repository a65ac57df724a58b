"""Who owns the claims of a pod."""

from __future__ import annotations

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers.statefulset import retention
from tests.control_plane.controllers.statefulset.stateful_sets import (
    CLAIM,
    DB,
    POD0,
    POD9,
    STALE,
    TO_POD9,
    reference,
    stateful_set,
)

TO_SET = reference(DB, "StatefulSet", "apps/v1")
STRANGER = {"apiVersion": "v1", "kind": "X", "name": "x", "uid": "x", "controller": True}


@pytest.mark.parametrize(
    ("deleted", "scaled", "pod_", "present", "expected"),
    [
        ("Retain", "Retain", POD0, [], None),
        ("Retain", "Retain", POD0, [TO_SET], []),
        ("Delete", "Retain", POD0, [], [TO_SET]),
        ("Delete", "Retain", POD0, [TO_SET], None),
        ("Delete", "Retain", POD9, [TO_POD9], [TO_SET]),
        ("Retain", "Delete", POD0, [], None),
        ("Retain", "Delete", POD0, [TO_SET], []),
        ("Retain", "Delete", POD9, [], [TO_POD9]),
        ("Delete", "Delete", POD0, [], [TO_SET]),
        ("Delete", "Delete", POD9, [TO_SET], [TO_POD9]),
        ("Delete", "Delete", POD0, [STRANGER], None),
        ("Delete", "Delete", POD0, [STRANGER, TO_SET], [STRANGER]),
        ("Delete", "Delete", POD0, [STALE], None),
        ("Delete", "Retain", POD0, [{**TO_SET, "controller": False}], [TO_SET]),
    ],
)
def test_owners_of_claims(
    deleted: str, scaled: str, pod_: Object, present: list[Object], expected: list[Object] | None
) -> None:
    policy = {"whenDeleted": deleted, "whenScaled": scaled}
    given = stateful_set(3, persistentVolumeClaimRetentionPolicy=policy, volumeClaimTemplates=[CLAIM])
    claim = {"metadata": {"name": "data-db-0", "ownerReferences": present}}
    assert retention.owners(claim, given, pod_) == expected
