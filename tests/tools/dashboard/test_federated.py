"""How federated objects do, as their status says; objects come from others and can be anything."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.tools.dashboard.federated import cluster_of, object_of, picture

_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(("metadata", "name", "status", "conditions", "type", "clusters", "spec")), inner
        )
    ),
    max_leaves=12,
)


def _object(name: str, clusters: Any, propagated: str | None = "True", observed: int = 1) -> dict[str, Any]:
    conditions = [
        {
            "type": "Propagation",
            "status": propagated,
            "reason": "" if propagated == "True" else "CheckClusters",
        }
    ]
    status = {
        "observedGeneration": observed,
        "clusters": clusters,
        "conditions": conditions if propagated else [],
    }
    return {"metadata": {"name": name, "namespace": "shop", "generation": 1}, "status": status}


@pytest.mark.parametrize(
    ("obj", "state", "clusters"),
    [
        (_object("a", [{"name": "east"}, {"name": "west"}]), "good", {"east": "", "west": ""}),
        (
            _object("a", [{"name": "east", "status": "CreationFailed"}], "False"),
            "bad",
            {"east": "CreationFailed"},
        ),
        (_object("a", [{"name": "east"}], observed=0), "wait", {"east": ""}),
        (_object("a", None, None), "wait", {}),
        ({"metadata": {"name": "new", "generation": 1}}, "wait", {}),
    ],
)
def test_the_state_of_an_object(obj: dict[str, Any], state: str, clusters: dict[str, str]) -> None:
    row = object_of("federatedconfigmaps.types.kubefed.io", "FederatedConfigMap", obj)
    assert row is not None and (row["state"], row["clusters"]) == (state, clusters)


def test_those_that_are_not_well_come_first() -> None:
    objects = [_object(f"good-{number}", []) for number in range(600)] + [_object("bad", [], "False")]
    drawn = picture([], {("federatedx.types.kubefed.io", "FederatedX"): objects})
    assert drawn["counts"] == {"bad": 1, "wait": 0, "good": 600}
    assert (len(drawn["objects"]), drawn["objects"][0]["name"], drawn["objects"][0]["reason"]) == (
        500,
        "bad",
        "CheckClusters",
    )


def test_clusters() -> None:
    ready = {"metadata": {"name": "east"}, "spec": {"apiEndpoint": "https://east"},
             "status": {"conditions": [{"type": "Ready", "status": "True"}], "region": "eu", "zones": ["a"]}}  # fmt: skip
    offline = {"metadata": {"name": "west"}, "status": {"conditions": [
        {"type": "Offline", "status": "True", "message": "cluster is not reachable"}]}}  # fmt: skip
    one, other = picture([offline, ready], {})["clusters"]
    assert (one["name"], one["ready"], one["address"], one["region"], one["zones"]) == (
        "east",
        True,
        "https://east",
        "eu",
        ["a"],
    )
    assert (other["name"], other["ready"], other["message"]) == ("west", False, "cluster is not reachable")


@given(_ANYTHING)
def test_anything_may_come(value: Any) -> None:
    obj = value if isinstance(value, dict) else {"metadata": value, "status": value}
    for row in (cluster_of(obj), object_of("r", "K", obj)):
        assert row is None or isinstance(row["name"], str)
