"""Strategic merge patch: merge keys, directives, order and the errors, on real kinds."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api import schema
from pybernetes.api.errors import StatusError
from pybernetes.api.patch import strategic
from pybernetes.api.resource import Object

DEPLOYMENT = schema.kind_type("apps", "v1", "Deployment")
POD = schema.kind_type("", "v1", "Pod")
SERVICE = schema.kind_type("", "v1", "Service")


def pod(*containers: Any, **spec: Any) -> Object:
    return {"spec": {"containers": list(containers), **spec}}


def named(*names: str) -> list[dict[str, str]]:
    return [{"name": name} for name in names]


A, B, C = ({"name": name, "image": name} for name in "abc")


@pytest.mark.parametrize(
    ("document", "patch", "expected"),
    [
        pytest.param(pod(A, B), pod({"name": "b", "image": "z"}), pod(A, {"name": "b", "image": "z"}),
                     id="merges by key, in place"),
        pytest.param(pod(A), pod(C), pod(C, A), id="a new item stands before those that only the server has"),
        pytest.param(pod(A, B, C), pod({"name": "b", "$patch": "delete"}), pod(A, C), id="delete"),
        pytest.param(pod(A, B), pod(C, {"$patch": "replace"}), pod(C), id="replace the list"),
        pytest.param(pod(A), {"spec": {"$patch": "replace", "nodeName": "n"}}, {"spec": {"nodeName": "n"}},
                     id="replace an object"),
        pytest.param(pod(A), {"spec": {"$patch": "delete"}}, {"spec": {}}, id="empty an object"),
        pytest.param({}, pod(A, {"name": "x", "$patch": "delete"}), pod(A), id="directives in new lists go"),
        pytest.param({}, {"spec": {"nodeName": None, "nodeSelector": {"a": None, "b": "c"}}},
                     {"spec": {"nodeSelector": {"b": "c"}}}, id="nulls in new objects go"),
        pytest.param(pod(A, nodeName="n"), {"spec": {"nodeName": None}}, pod(A), id="null removes"),
        pytest.param({"metadata": {"finalizers": ["a", "b"]}}, {"metadata": {"finalizers": ["b", "c"]}},
                     {"metadata": {"finalizers": ["a", "b", "c"]}}, id="scalars merge"),
        pytest.param({"metadata": {"finalizers": ["a", "b"]}},
                     {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}},
                     {"metadata": {"finalizers": ["b"]}}, id="delete from scalars"),
        pytest.param({"metadata": {"finalizers": ["a", "b", "c"]}},
                     {"metadata": {"$setElementOrder/finalizers": ["c", "a"], "finalizers": ["c"],
                                   "$deleteFromPrimitiveList/finalizers": ["b"]}},
                     {"metadata": {"finalizers": ["c", "a"]}}, id="order of scalars"),
        pytest.param(pod(A, B, C), {"spec": {"$setElementOrder/containers": named("c", "a", "b")}},
                     pod(C, A, B), id="order alone"),
        pytest.param(pod(A, B), {"spec": {"$setElementOrder/containers": named("c", "b"), "containers": [C]}},
                     pod(C, A, B), id="order with an item of the server"),
        pytest.param(pod(B), {"spec": {"$setElementOrder/containers": named("c", "b"), "containers": [A]}},
                     None, id="order that a patch breaks is an error"),
        pytest.param({"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}},
                     {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}},
                     {"spec": {"strategy": {"type": "Recreate"}}}, id="retain keys"),
        pytest.param(pod(A, tolerations=[{"key": "a"}]), {"spec": {"tolerations": [{"key": "b"}]}},
                     pod(A, tolerations=[{"key": "b"}]), id="a list without merge key is replaced"),
        pytest.param({"metadata": {"labels": {"a": "1", "b": "2"}}},
                     {"metadata": {"labels": {"a": None, "c": "3"}}},
                     {"metadata": {"labels": {"b": "2", "c": "3"}}}, id="maps merge"),
        pytest.param(pod(A), None, pod(A), id="null is no change"),
    ],
)  # fmt: skip
def test_merges(document: Any, patch: Any, expected: Any) -> None:
    type_ = DEPLOYMENT if "strategy" in str(document) else POD
    before = copy.deepcopy((document, patch))
    if expected is None:
        with pytest.raises(StatusError):
            strategic.apply(document, patch, type_)
    else:
        assert strategic.apply(document, patch, type_) == expected
    assert (document, patch) == before


def test_ports_of_a_service_merge_by_port() -> None:
    document = {"spec": {"ports": [{"port": 80, "protocol": "TCP"}, {"port": 443}]}}
    patch = {"spec": {"ports": [{"port": 80, "nodePort": 30080}]}}
    merged = strategic.apply(document, patch, SERVICE)
    assert merged["spec"]["ports"] == [{"port": 80, "protocol": "TCP", "nodePort": 30080}, {"port": 443}]


@pytest.mark.parametrize(
    ("patch", "code", "message"),
    [
        (pod({"image": "x"}), 400, "map: map[image:x] does not contain declared merge key: name"),
        (pod({"name": "a", "$patch": "merge"}), 400, "merging lists cannot yet be specified in the patch"),
        (pod({"name": "a", "$patch": "x"}), 400, "unknown patch type: x in map: map[$patch:x name:a]"),
        (pod("a"), 400, "list element types are not identical: [[map[image:a name:a]] [a]]"),
        (
            {"metadata": {"finalizers": [["a"]]}},
            422,
            "the server rejected our request due to an error in our request",
        ),
        ({"spec": {"$patch": "x"}}, 400, "unknown patch type: x in map: map[$patch:x]"),
        ({"spec": {"$retainKeys": "a"}}, 400, "invalid patch format of retainKeys"),
        ({"spec": {"$retainKeys": ["a"], "nodeName": "n"}}, 400, "invalid patch format of retainKeys"),
        ({"metadata": {"$deleteFromPrimitiveList": []}}, 400, "invalid patch format of primitive list"),
        ({"spec": {"$setElementOrder": []}}, 400, "invalid patch format of setElementOrder list"),
        (3, 400, "json: cannot unmarshal number into Go value of type map[string]interface {}"),
    ],
)
def test_errors(patch: Any, code: int, message: str) -> None:
    document = {"metadata": {"labels": {}, "finalizers": []}, **pod(A)}
    with pytest.raises(StatusError) as caught:
        strategic.apply(document, patch, POD)
    assert (caught.value.code, caught.value.message) == (code, message)


NAMES = st.lists(st.sampled_from("abcdef"), unique=True, max_size=5)


@given(NAMES, NAMES)
def test_set_element_order_gives_that_order(live: list[str], wanted: list[str]) -> None:
    document = {"spec": {"containers": named(*live)}}
    patch = {"spec": {"$setElementOrder/containers": named(*wanted), "containers": named(*wanted)}}
    if not live and not wanted:
        return
    merged = [item["name"] for item in strategic.apply(document, patch, POD)["spec"]["containers"]]
    assert sorted(merged) == sorted({*live, *wanted})
    assert [name for name in merged if name in wanted] == wanted
    assert [name for name in merged if name not in wanted] == [name for name in live if name not in wanted]


@given(NAMES)
def test_patching_with_itself_changes_nothing(names: list[str]) -> None:
    document = {"metadata": {"labels": {"a": "b"}, "finalizers": names}, **pod(*named(*names))}
    assert strategic.apply(document, document, POD) == document
