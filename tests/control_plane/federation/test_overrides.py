from __future__ import annotations

from typing import Any

import pytest

from pybernetes.control_plane.federation import overrides


def entry(cluster: str, *operations: dict[str, Any]) -> dict[str, Any]:
    return {"clusterName": cluster, "clusterOverrides": list(operations)}


def obj(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"spec": {"overrides": list(entries)}}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (obj(entry("a"), entry("a")), 'cluster "a" appears more than once'),
        (obj(entry("a", {"path": "/metadata/name"})), "invalid path: /metadata/name"),
        (obj(entry("a", {"path": "/kind"})), "invalid path: /kind"),
        (obj(entry("a", {"path": "/metadata"})), "invalid path: /metadata"),
        (obj(entry("a", {"path": ""})), "invalid path: "),
        (obj(entry("a", {"path": "/x", "op": "move"})), "invalid op: move"),
        (obj(entry("a", {"path": "/x"}, {"path": "/x"})), 'path "/x" appears more than once'),
    ],
)
def test_what_cannot_be_overridden(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        overrides.by_cluster(given)


def test_operations_replace_unless_they_say_otherwise() -> None:
    before = {"spec": {"replicas": 1, "paused": True}, "metadata": {"labels": {"a": "1"}}}
    after = overrides.apply(
        before,
        [
            {"path": "/spec/replicas", "value": 3},
            {"op": "remove", "path": "/spec/paused"},
            {"op": "add", "path": "/metadata/labels/b", "value": "2"},
        ],
    )
    assert after == {"spec": {"replicas": 3}, "metadata": {"labels": {"a": "1", "b": "2"}}}
    assert before["spec"] == {"replicas": 1, "paused": True}


def test_an_operation_that_does_not_fit_says_so() -> None:
    with pytest.raises(ValueError, match="remove operation does not apply"):
        overrides.apply({"spec": {}}, [{"op": "remove", "path": "/spec/missing/deep"}])


def test_one_value_is_replaced_in_all_clusters() -> None:
    given = obj(
        entry("a", {"path": "/spec/replicas", "value": 1}, {"path": "/x", "value": 2}),
        entry("b", {"path": "/spec/replicas", "value": 5}),
    )
    assert overrides.replace_value(given, "/spec/replicas", {"a": 3, "c": 4}) == [
        entry("a", {"path": "/x", "value": 2}, {"path": "/spec/replicas", "value": 3}),
        entry("c", {"path": "/spec/replicas", "value": 4}),
    ]
