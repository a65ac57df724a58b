from __future__ import annotations

from typing import Any

import pytest

from pybernetes.control_plane.federation import placement

CLUSTERS = {"a": {"zone": "x"}, "b": {"zone": "y"}, "c": {}}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, set()),
        ({"clusters": []}, set()),
        ({"clusters": [{"name": "a"}, {"name": "gone"}]}, {"a"}),
        ({"clusters": [], "clusterSelector": {}}, set()),
        ({"clusters": [{"name": "b"}], "clusterSelector": {}}, {"b"}),
        ({"clusterSelector": {}}, {"a", "b", "c"}),
        ({"clusterSelector": {"matchLabels": {"zone": "x"}}}, {"a"}),
        ({"clusterSelector": {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}}, {"a", "b"}),
    ],
)
def test_clusters_by_name_or_label(given: dict[str, Any], expected: set[str]) -> None:
    assert placement.of_object({"spec": {"placement": given}}, CLUSTERS) == expected


def test_a_selector_that_is_none_is_an_error() -> None:
    wrong = {"clusterSelector": {"matchExpressions": [{"key": "zone", "operator": "Near"}]}}
    with pytest.raises(ValueError, match="Near"):
        placement.of_object({"spec": {"placement": wrong}}, CLUSTERS)


def test_the_namespace_has_to_be_there_too() -> None:
    everywhere: dict[str, Any] = {"spec": {"placement": {"clusterSelector": {}}}}
    namespace = {"spec": {"placement": {"clusters": [{"name": "b"}]}}}
    of = placement.of_namespaced
    assert of(everywhere, namespace, CLUSTERS, one_namespace=False) == {"b"}
    assert of(everywhere, None, CLUSTERS, one_namespace=False) == set()
    assert of(everywhere, None, CLUSTERS, one_namespace=True) == {"a", "b", "c"}
