"""The objects that pods refer to."""

from __future__ import annotations

from pybernetes.node.kubelet.object_cache import references
from tests.node.kubelet.pods import pod


def test_references() -> None:
    definition = pod(
        {"envFrom": [{"configMapRef": {"name": "m1"}}]},
        imagePullSecrets=[{"name": "s1"}],
        volumes=[
            {"name": "a", "secret": {"secretName": "s2"}},
            {
                "name": "b",
                "projected": {"sources": [{"configMap": {"name": "m2"}}, {"secret": {"name": "s3"}}]},
            },
        ],
    )
    assert {(ref.plural, name) for ref, _, name in references(definition)} == {
        ("configmaps", "m1"), ("configmaps", "m2"), ("secrets", "s1"), ("secrets", "s2"), ("secrets", "s3"),
    }  # fmt: skip
