from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.tools.dashboard.search_fields import WHOLE, fields


@pytest.mark.parametrize(
    ("resource", "obj", "more"),
    [
        ("pods", {"spec": {"nodeName": "n", "containers": [{"image": "i"}]}, "status": {"podIPs": [{"ip": "10.1.1.1"}]}},
         [("image", "i"), ("node", "n"), ("address", "10.1.1.1")]),
        ("services", {"spec": {"clusterIPs": ["10.2.2.2"]}, "status": {"loadBalancer": {"ingress": [{"hostname": "h"}]}}},
         [("address", "10.2.2.2"), ("address", "h")]),
        ("nodes", {"status": {"addresses": [{"type": "InternalIP", "address": "10.3.3.3"}]}}, [("address", "10.3.3.3")]),
        ("events", {"reason": "R", "message": "M", "involvedObject": {"kind": "Pod", "name": "p"}},
         [("owner", "Pod/p"), ("message", "R: M")]),
        ("deployments.apps", {"spec": {"template": {"spec": {"initContainers": [{"image": "a"}], "containers": [{"image": "b"}]}}}},
         [("image", "a"), ("image", "b")]),
        ("cronjobs.batch", {"spec": {"jobTemplate": {"spec": {"template": {"spec": {"containers": [{"image": "c"}]}}}}}},
         [("image", "c")]),
        ("ingresses.networking.k8s.io", {"spec": {"rules": [{"host": "shop.example"}]}}, [("address", "shop.example")]),
        ("endpointslices.discovery.k8s.io", {"endpoints": [{"addresses": ["10.4.4.4"]}]}, [("address", "10.4.4.4")]),
        ("secrets", {"data": {"password": "c2VjcmV0"}, "stringData": {"a": "b"}}, []),
        ("configmaps", {"data": {"a": "b"}}, []),
    ],
)  # fmt: skip
def test_contents(resource: str, obj: dict[str, Any], more: list[tuple[str, str]]) -> None:
    meta = {"name": "x", "labels": {"l": "1"}, "ownerReferences": [{"kind": "K", "name": "o"}]}
    texts = [pair for pair in fields(resource, {"metadata": meta, **obj}) if pair[1]]
    assert texts == [("name", "x"), ("label", "l=1"), ("owner", "K/o"), *more]


def test_what_tools_write_for_themselves_is_left_out() -> None:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "a": "b" * 1000}
    texts = [
        text
        for field, text in fields("pods", {"metadata": {"annotations": annotations}})
        if field == "annotation"
    ]
    assert texts == ["a=" + "b" * 300]


_anything = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                [
                    "metadata",
                    "spec",
                    "status",
                    "containers",
                    "podIPs",
                    "labels",
                    "template",
                    "rules",
                    "endpoints",
                ]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(
    st.sampled_from(sorted(WHOLE)),
    st.dictionaries(st.sampled_from(["metadata", "spec", "status"]), _anything),
)
def test_objects_of_any_shape_are_put_up_with(resource: str, obj: dict[str, Any]) -> None:
    assert all(isinstance(text, str) for _, text in fields(resource, obj))
