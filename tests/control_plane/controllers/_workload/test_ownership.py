"""Which workloads may select an object."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._workload.ownership import (
    Selectors,
    anchors,
    by_plain_selector,
    by_selector,
    matcher,
    orphans,
    selector_of,
)
from tests.control_plane.controllers.builders import meta, pod


def owner(selector: Any) -> Object:
    return {"metadata": meta("o"), "spec": {"selector": selector}}


@pytest.mark.parametrize(
    "selector",
    [
        {"matchLabels": {"app": "web"}},
        {"matchLabels": {"app": "web", "x": "y"}},
        {"matchExpressions": [{"key": "app", "operator": "Exists"}]},
        {
            "matchLabels": {"x": "y"},
            "matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "db"]}],
        },
    ],
)
def test_a_suitor_is_found_by_an_anchor(selector: Object) -> None:
    one = pod("a", labels={"app": "web", "x": "y"})
    (anchor,) = by_selector(owner(selector))
    assert anchor in anchors(one)
    parsed = selector_of(owner(selector))
    for labels in ({"app": "web", "x": "y"}, {"app": "web"}, {"x": "y"}, {}, None):
        assert matcher(parsed)(labels) == parsed.matches(labels)
    assert matcher(parsed)({"app": "web", "x": "y"})


def test_odd_selectors_select_nothing() -> None:
    for selector in (None, {}, {"matchExpressions": [{"key": "a", "operator": "Odd"}]}):
        assert not matcher(selector_of(owner(selector)))({"app": "web"})


def test_plain_selectors() -> None:
    assert by_plain_selector(owner({"app": "web"})) == ("default/app=web",)
    assert by_plain_selector(owner(None)) == ("default/",)


def test_orphans() -> None:
    assert orphans(pod("a")) == ("default",)
    assert orphans(pod("a", owner={"metadata": meta("o")})) == ()


class Objects:
    """A cache of objects, as the selectors of workloads see it."""

    def __init__(self) -> None:
        self.objects: dict[str, Object] = {}
        self.handlers: list[Any] = []

    def add_handler(self, handler: Any) -> None:
        self.handlers.append(handler)

    def get(self, key: str) -> Object | None:
        return self.objects.get(key)

    def put(self, key: str, obj: Object | None) -> None:
        old = self.objects.pop(key, None)
        if obj is not None:
            self.objects[key] = obj
        for handler in self.handlers:
            handler(old, obj)


def test_a_selector_is_read_once_and_kept_as_long_as_its_object() -> None:
    """Selectors of a megabyte were read again for each change of a pod, or kept by the thousand when they were gone."""
    read: list[Object] = []

    def reading(obj: Object) -> Any:
        read.append(obj)
        return selector_of(obj)

    cache: Any = Objects()
    selectors, first, second = Selectors(cache, reading), owner({"matchLabels": {"a": "b"}}), owner({})
    assert selectors.of(first).matches({"a": "b"}) and selectors.of(first)
    assert read == [first, first]  # it is not there yet
    cache.put("default/o", first)
    assert [selectors.of(first).matches({"a": "b"}) for _ in range(3)] == [True] * 3
    assert len(read) == 3
    cache.put("default/o", second)
    assert not selectors.of(second).matches({"a": "b"}) and len(read) == 4
    cache.put("default/o", None)
    assert not vars(selectors)["_known"]
