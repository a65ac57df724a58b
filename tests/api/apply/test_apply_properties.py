"""Nonsense gets an error that a client can read, never a crash, and changes nothing that it was given."""

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api import schema
from pybernetes.api.apply import apply as ssa
from pybernetes.api.apply import managed_fields
from pybernetes.api.errors import StatusError
from pybernetes.api.resource import Object

TYPE = schema.kind_type("apps", "v1", "Deployment")
NAMES = st.sampled_from(
    [
        "metadata",
        "spec",
        "template",
        "containers",
        "name",
        "ports",
        "containerPort",
        "labels",
        "finalizers",
        "env",
    ]
    + [
        "strategy",
        "replicas",
        "$patch",
        "$retainKeys",
        "$setElementOrder/containers",
        "managedFields",
        "kind",
    ]
    + [
        "$deleteFromPrimitiveList/finalizers",
        "$setElementOrder/finalizers",
        "selector",
        "volumes",
        "status",
        "x",
    ]
)
SCALARS = (
    st.none() | st.booleans() | st.integers(-1, 2) | st.sampled_from(["a", "b", "delete", "replace", "name"])
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
CONTAINERS = st.lists(st.dictionaries(NAMES, JSON, max_size=3) | JSON, max_size=3)
SHAPED = st.fixed_dictionaries(
    {},
    optional={
        "metadata": st.dictionaries(NAMES, JSON, max_size=4) | JSON,
        "spec": st.fixed_dictionaries(
            {},
            optional={
                "template": st.fixed_dictionaries(
                    {"spec": st.fixed_dictionaries({"containers": CONTAINERS})}
                ),
                "strategy": JSON,
                "replicas": JSON,
            },
        )
        | JSON,
    },
)
LIVE: Object = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "d", "finalizers": ["a", "b"], "labels": {"name": "a"}},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"a": "b"}},
        "strategy": {"type": "Recreate"},
        "template": {"spec": {"containers": [{"name": "a", "env": [{"name": "a"}]}, {"name": "b"}]}},
    },
}


@given(SHAPED, st.booleans(), st.booleans())
def test_apply(config: Any, force: bool, creates: bool) -> None:
    before = copy.deepcopy((LIVE, config))
    try:
        ssa.apply(
            None if creates else LIVE, {"apiVersion": "apps/v1", "kind": "Deployment", **config}, TYPE,
            kind="Deployment", api_version="apps/v1", manager="kubectl", force=force, now="t",
        )  # fmt: skip
    except StatusError as error:
        assert error.code in (400, 409)
    assert (LIVE, config) == before


@given(JSON)
def test_entries_that_clients_send(entries: Any) -> None:
    new = {**LIVE, "metadata": {**LIVE["metadata"], "managedFields": entries}}
    if isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries):
        managed_fields.update(LIVE, new, TYPE, manager="m", api_version="apps/v1", now="t")
