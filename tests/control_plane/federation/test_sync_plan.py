from __future__ import annotations

from typing import Any

import pytest

from pybernetes.control_plane.federation import propagation, sync_plan
from pybernetes.control_plane.federation.sync_plan import Action, Applied, Decision, Seen, decide


def current(**meta: Any) -> dict[str, Any]:
    return {"metadata": {"name": "x", **meta}, "content": "now"}


GOING = current(deletionTimestamp="2026-01-01T00:00:00Z")


@pytest.mark.parametrize(
    ("seen", "wanted", "keeps", "expected"),
    [
        (Seen(ready=False), "w", False, Decision(status=propagation.CLUSTER_NOT_READY)),
        (Seen(ready=False), None, False, sync_plan.NOTHING),
        (Seen(readable=False), "w", False, Decision(status=propagation.CACHED_RETRIEVAL_FAILED)),
        (Seen(readable=False), None, False, sync_plan.NOTHING),
        (Seen(), "w", False, Decision(Action.CREATE)),
        (Seen(), None, False, sync_plan.NOTHING),
        (Seen(current=current()), "w", False, Decision(Action.UPDATE)),
        (Seen(current=current(), applied=Applied("w", "now")), "w", False, Decision(status="")),
        (Seen(current=current(), applied=Applied("w", "earlier")), "w", False, Decision(Action.UPDATE)),
        (Seen(current=current(), applied=Applied("v", "now")), "w", False, Decision(Action.UPDATE)),
        (Seen(current=current()), None, False, Decision(Action.DELETE)),
        (Seen(current=current()), None, True, Decision(Action.RELEASE)),
        (Seen(current=GOING), "w", False, Decision(status=propagation.WAITING_FOR_REMOVAL)),
        (Seen(current=GOING), None, False, Decision(status=propagation.WAITING_FOR_REMOVAL)),
        (Seen(current=GOING), None, True, Decision(Action.RELEASE)),
        (Seen(current=GOING), "w", True, Decision(status=propagation.WAITING_FOR_REMOVAL)),
    ],
)
def test_decisions(seen: Seen, wanted: str | None, keeps: bool, expected: Decision) -> None:
    assert decide(seen, wanted, keeps=keeps) == expected


def test_waves_hold_back_updates_and_nothing_else() -> None:
    decisions = {
        "a": Decision(Action.UPDATE), "b": Decision(Action.CREATE), "c": Decision(Action.UPDATE), "d": Decision(Action.UPDATE),
        "e": Decision(status=""),
    }  # fmt: skip
    waiting = Decision(status=propagation.WAITING_FOR_ROLLOUT)
    assert sync_plan.in_waves(decisions, 0, 2) == {**decisions, "d": waiting}
    assert sync_plan.in_waves(decisions, 1, 2) == {**decisions, "c": waiting, "d": waiting}
    assert sync_plan.in_waves(decisions, 5, 2) == {**decisions, "a": waiting, "c": waiting, "d": waiting}


@pytest.mark.parametrize(("limit", "expected"), [(None, None), (3, 3), ("25%", 2), ("1%", 1), ("100%", 10)])
def test_size_of_a_wave(limit: object, expected: int | None) -> None:
    assert sync_plan.wave_size(limit, 10) == expected


@pytest.mark.parametrize("limit", [0, -1, "x", "5", True, "-5%"])
def test_no_size_of_a_wave(limit: object) -> None:
    with pytest.raises(ValueError, match=r"spec\.rollout\.maxClusters"):
        sync_plan.wave_size(limit, 10)
