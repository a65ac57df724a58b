"""A Deployment, and what clients may send about it: nonsense in the words of patches and of its own fields."""

from __future__ import annotations

from hypothesis import strategies as st

from pybernetes.api import schema
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
