"""Which workloads may select an object."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._workload.ownership import (
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
