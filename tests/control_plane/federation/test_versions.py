from __future__ import annotations

from typing import Any

import pytest

from pybernetes.control_plane.federation import versions


def obj(template: Any = None, overrides: Any = None) -> dict[str, Any]:
    return {"spec": {"template": template, "overrides": overrides}}


def test_what_was_given_counts_while_the_object_is_the_same() -> None:
    now = obj({"data": {"a": "1"}}, [{"clusterName": "x"}])
    record = {"status": versions.record_status(now, {"b": "gen:2", "a": "rv:7"})}
    assert versions.recorded(record, now) == {"a": "rv:7", "b": "gen:2"}
    assert versions.recorded(record, obj({"data": {"a": "2"}}, [{"clusterName": "x"}])) == {}
    assert versions.recorded(record, obj({"data": {"a": "1"}})) == {}
    assert versions.recorded(None, now) == {}
    assert "clusterVersions" not in versions.record_status(now, {})


@pytest.mark.parametrize(
    ("meta", "expected"),
    [({"generation": 3, "resourceVersion": "9"}, "gen:3"), ({"resourceVersion": "9"}, "rv:9")],
)
def test_version_of_an_object(meta: dict[str, Any], expected: str) -> None:
    assert versions.object_version({"metadata": meta}) == expected


def test_content_is_what_somebody_wants() -> None:
    before = {
        "metadata": {"labels": {"a": "b"}, "resourceVersion": "1"},
        "spec": {"x": 1},
        "status": {"y": 1},
    }
    same = {
        "metadata": {"labels": {"a": "b"}, "annotations": {"n": "1"}},
        "status": {"y": 2},
        "spec": {"x": 1},
    }
    assert versions.content(before) == versions.content(same)
    assert versions.content(before) != versions.content({**same, "spec": {"x": 2}})
    assert versions.content(before) != versions.content({**same, "metadata": {"labels": {}}})
