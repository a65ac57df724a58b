"""Three-way patches."""

from __future__ import annotations

from pybernetes.tools.kubectl.apply.strategic_diff import three_way
from pybernetes.tools.kubectl.apply.three_way_patch import merge_patch


def test_a_patch_removes_what_was_wanted_before_and_keeps_what_others_set() -> None:
    original, modified = {"a": 1, "b": 2, "m": {"x": 1}}, {"a": 3, "m": {}}
    assert merge_patch(original, modified, {"a": 1, "b": 2, "c": 9, "m": {"x": 1, "y": 2}}) == {
        "a": 3,
        "b": None,
        "m": {"x": None},
    }


def test_a_strategic_patch_merges_lists_by_key() -> None:
    from pybernetes.api.patch.strategic import apply
    from pybernetes.api.schema import kind_type

    type_ = kind_type("", "v1", "Pod")
    original = {"spec": {"containers": [{"name": "a", "image": "1"}, {"name": "gone", "image": "1"}]}}
    modified = {"spec": {"containers": [{"name": "a", "image": "2"}, {"name": "new", "image": "1"}]}}
    current = {"spec": {"containers": [{"name": "a", "image": "1", "tty": True}, {"name": "gone", "image": "1"}, {"name": "other", "image": "1"}]}}  # fmt: skip
    patch = three_way(original, modified, current, type_)
    after = {container["name"]: container for container in apply(current, patch, type_)["spec"]["containers"]}
    assert sorted(after) == ["a", "new", "other"] and after["a"] == {"name": "a", "image": "2", "tty": True}
