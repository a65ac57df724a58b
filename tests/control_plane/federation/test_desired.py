from __future__ import annotations

from typing import Any

import pytest

from pybernetes.client.refs import CONFIG_MAPS, INGRESSES, NAMESPACES
from pybernetes.control_plane.federation import desired
from pybernetes.control_plane.federation.type_config import for_target

MAPS, SPACES = for_target(CONFIG_MAPS), for_target(NAMESPACES)


def federated(template: Any, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "x", "namespace": "ns"}, "spec": {"template": template, **spec}}


def test_a_template_becomes_an_object_with_our_label() -> None:
    given = federated({
        "metadata": {"name": "evil", "namespace": "kube-system", "labels": {"a": "b"}, "annotations": {"c": "d"}, "ownerReferences": [{}]},
        "data": {"k": "v"}, "status": {"x": 1},
    })  # fmt: skip
    made = desired.desired(given, MAPS, ())
    assert made == {
        "apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "v"},
        "metadata": {"name": "x", "namespace": "ns", "labels": {"a": "b", "kubefed.io/managed": "true"}},
    }  # fmt: skip
    assert desired.unsupported(given) == ["annotations"]


def test_overrides_come_after_what_is_retained_and_never_change_who_it_is() -> None:
    current = {"metadata": {"name": "x", "resourceVersion": "3", "annotations": {"theirs": "1"}}}
    operations: list[dict[str, Any]] = [
        {"op": "add", "path": "/metadata/annotations/mine", "value": "2"},
        {"op": "add", "path": "/metadata/labels", "value": {"kubefed.io/managed": "false"}},
        {"op": "add", "path": "/data", "value": {"k": "w"}},
    ]
    made = desired.desired(federated({"data": {"k": "v"}}), MAPS, operations, current)
    assert made["metadata"] == {
        "name": "x", "namespace": "ns", "resourceVersion": "3", "annotations": {"theirs": "1", "mine": "2"},
        "labels": {"kubefed.io/managed": "true"},
    }  # fmt: skip
    assert made["data"] == {"k": "w"}


def test_another_version_of_the_kind_may_be_meant_in_a_cluster() -> None:
    made = desired.desired(
        federated({}), for_target(INGRESSES), [{"path": "/apiVersion", "value": "extensions/v1beta1"}]
    )
    assert desired.ref_of(made, INGRESSES)[:3] == ("extensions", "v1beta1", "ingresses")


def test_a_kind_of_another_group_is_not_meant() -> None:
    for version in ("v1", "serving.example.com/v1", "apps/v1"):
        made = desired.desired(federated({"apiVersion": version}), for_target(INGRESSES), ())
        with pytest.raises(ValueError, match="is not of the group of Ingress"):
            desired.ref_of(made, INGRESSES)


def test_namespaces_are_in_themselves() -> None:
    assert (
        desired.desired({"metadata": {"name": "ns", "namespace": "ns"}, "spec": {}}, SPACES, ())["metadata"][
            "name"
        ]
        == "ns"
    )
    assert desired.target_key(SPACES, "ns/ns") == "ns" and desired.federated_key(SPACES, "ns") == "ns/ns"
    assert desired.target_key(MAPS, "ns/x") == "ns/x" == desired.federated_key(MAPS, "ns/x")


def test_what_is_wanted_has_a_digest_of_its_own() -> None:
    texts = {
        desired.wanted(federated({"a": 1}), ()),
        desired.wanted(federated({"a": 2}), ()),
        desired.wanted(federated({"a": 1}), [{"path": "/a", "value": 2}]),
        desired.wanted(federated({"a": 1}, retainReplicas=True), ()),
    }
    assert len(texts) == 4
    assert desired.wanted(federated({"a": 1}, placement={"clusters": []}), ()) in texts


def test_an_override_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(ValueError, match="does not apply"):
        desired.desired(federated({}), MAPS, [{"op": "remove", "path": "/data/x"}])


@pytest.mark.parametrize(
    "text",
    [
        "apps/v1/namespaces/kube-system",
        "../../api/v1",
        "v1?x=",
        "",
        None,
        "/v1",
        "apps/",
        "a/b/v1",
        "apps/v1/",
        "v1\n",
    ],
)
def test_no_other_place_is_reached_by_a_version(text: object) -> None:
    with pytest.raises(ValueError, match="apiVersion"):
        desired.ref_of({"apiVersion": text}, CONFIG_MAPS)
