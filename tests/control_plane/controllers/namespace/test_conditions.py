"""What the status of a namespace says while it is deleted."""

from __future__ import annotations

from pybernetes.control_plane.controllers.namespace import conditions


def test_conditions_change_their_time_with_their_status() -> None:
    problems = conditions.problems({}, ["no"], {"pods.": 3}, {})
    first = conditions.conditions([], problems, "1")
    assert [known["status"] for known in first] == ["False", "False", "True", "True", "False"]
    assert first[2]["message"] == "Failed to delete all resource types, 1 remaining: no"
    assert first[3]["message"] == "Some resources are remaining: pods. has 3 resource instances"
    fewer = conditions.problems({}, [], {"pods.": 2}, {})
    second = conditions.conditions(first, fewer, "2")
    assert [known["lastTransitionTime"] for known in second] == ["1", "1", "2", "1", "1"]
    assert second[3]["message"] == "Some resources are remaining: pods. has 2 resource instances"
    assert conditions.conditions(second, fewer, "3") == second
    other = {"type": "Other", "status": "True"}
    assert conditions.conditions([other], {}, "1")[0] == other


def test_groups_that_cannot_be_asked() -> None:
    problems = conditions.problems({"b/v1": "down", "a/v1": "stale"}, [], {}, {})
    reason, message = problems["NamespaceDeletionDiscoveryFailure"]
    assert reason == "DiscoveryFailed"
    assert message == (
        "Discovery failed for some groups, 2 failing: unable to retrieve the complete list of server APIs: "
        "a/v1: stale, b/v1: down"
    )
