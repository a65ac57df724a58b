"""What becomes of an object because of its owners, as tables."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.control_plane.controllers.garbage_collector import ownership
from pybernetes.control_plane.controllers.garbage_collector.ownership import (
    ABSENT,
    DELETE_DEPENDENTS,
    NOTHING,
    ORPHAN_DEPENDENTS,
    SOLID,
    WAITING,
    Action,
)


def meta(*owners: str, finalizers: tuple[str, ...] = (), going: bool = False) -> dict[str, Any]:
    result: dict[str, Any] = {"uid": "self", "finalizers": list(finalizers)}
    if owners:
        result["ownerReferences"] = [{"uid": owner, "blockOwnerDeletion": True} for owner in owners]
    if going:
        result["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return result


LOOSE = meta()
HELD = meta(finalizers=("foregroundDeletion",), going=True)


@pytest.mark.parametrize(
    ("obj", "action"),
    [
        (meta("a"), None),
        (meta(), NOTHING),
        (meta("a", going=True), NOTHING),
        (meta("a", finalizers=("example.com/x",), going=True), NOTHING),
        (meta("a", finalizers=("orphan",), going=True), ORPHAN_DEPENDENTS),
        (meta("a", finalizers=("foregroundDeletion",), going=True), DELETE_DEPENDENTS),
        # A finalizer alone does not begin a deletion.
        (meta("a", finalizers=("foregroundDeletion",)), None),
    ],
)
def test_what_its_own_deletion_asks_for(obj: dict[str, Any], action: Action | None) -> None:
    assert ownership.begin(obj) == action


@pytest.mark.parametrize(
    ("obj", "states", "dependents", "action"),
    [
        (meta("a"), [SOLID], [], NOTHING),
        (meta("a", "b"), [SOLID, SOLID], [], NOTHING),
        (meta("a", "b"), [SOLID, ABSENT], [], Action("unlink", owners=("b",))),
        (meta("a", "b", "c"), [WAITING, SOLID, ABSENT], [], Action("unlink", owners=("a", "c"))),
        (meta("a"), [ABSENT], [], Action("delete", policy="Background")),
        (meta("a"), [ABSENT], [LOOSE], Action("delete", policy="Background")),
        (meta("a"), [WAITING], [], Action("delete", policy="Background")),
        (meta("a"), [WAITING], [LOOSE], Action("delete", policy="Foreground")),
        (meta("a"), [WAITING], [LOOSE, HELD], Action("delete", policy="Foreground", unblock=True)),
        (meta("a", "b"), [WAITING, ABSENT], [LOOSE], Action("delete", policy="Foreground")),
        (meta("a", finalizers=("orphan",)), [ABSENT], [LOOSE], Action("delete", policy="Orphan")),
        (meta("a", finalizers=("foregroundDeletion",)), [ABSENT], [], Action("delete", policy="Foreground")),
    ],
)
def test_decide(
    obj: dict[str, Any], states: list[str], dependents: list[dict[str, Any]], action: Action
) -> None:
    assert ownership.decide(obj, states, dependents) == action


def test_who_blocks_whom() -> None:
    blocking = {"uid": "a", "blockOwnerDeletion": True}
    free = {"uid": "a", "blockOwnerDeletion": False}
    assert ownership.blocks({"ownerReferences": [blocking]}, "a")
    assert not ownership.blocks({"ownerReferences": [free]}, "a")
    assert not ownership.blocks({"ownerReferences": [blocking]}, "b")
    assert ownership.unblocked([blocking], []) == [blocking]
    assert ownership.unblocked([blocking], [free]) == [blocking]
    assert ownership.unblocked([blocking], [blocking]) == []
    assert ownership.unblocked([free], []) == []


def test_patches() -> None:
    obj = meta("a", "b", finalizers=("orphan", "example.com/x"))
    kept = [{"uid": "b", "blockOwnerDeletion": True}]
    assert ownership.without_owners(obj, ("a", "c")) == {"ownerReferences": kept}
    assert ownership.without_owners(obj, ("c",)) is None
    assert ownership.without_finalizer(obj, "orphan") == {"finalizers": ["example.com/x"]}
    assert ownership.without_finalizer(obj, "foregroundDeletion") is None
    unblocked = ownership.without_blocking(obj)
    assert unblocked is not None
    assert not any(reference["blockOwnerDeletion"] for reference in unblocked["ownerReferences"])
    assert ownership.without_blocking(unblocked) is None
