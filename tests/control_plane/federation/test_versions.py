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


@pytest.mark.parametrize(
    ("spec", "template", "overrides"),
    [
        (
            {
                "template": {"data": {"b": "<a&b>", "a": "\u00e9\u2028"}, "n": 5},
                "overrides": [
                    {
                        "clusterName": "one",
                        "clusterOverrides": [
                            {"path": "/data/a", "value": "<"}, {"op": "", "path": "/x", "value": ""}, {"op": "remove", "path": "/y"},
                        ],
                    },
                    {"clusterName": "two"},
                ],
            },
            "df748348f94e7c9c0b687afd4028526d", "1b03c7b805876a7a913f05ad091e3895",
        ),
        ({"placement": {}}, "", "2979b7538b527abe06492021841caf47"),
        ({"overrides": [], "template": {}}, "8a80554c91d9fca8acb82f023de02f11", "fd97e6d9a670c7dcdc2477764f78b459"),
        (None, "", ""),
    ],
)  # fmt: skip
def test_versions_are_those_that_kubefed_records(spec: Any, template: str, overrides: str) -> None:
    obj = {} if spec is None else {"spec": spec}
    assert versions.template_version(obj) == template
    assert versions.overrides_version(obj) == overrides
