"""JSON patch: the operations, the deviations of Kubernetes' library, and the errors."""

import copy
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api.errors import StatusError
from pybernetes.api.patch import json_patch
from pybernetes.api.resource import Object

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab/~", max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("ab/", max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


def op(name: str, path: str, **more: Any) -> Object:
    return {"op": name, "path": path, **more}


@pytest.mark.parametrize(
    ("document", "operation", "expected"),
    [
        ({"a": 1}, op("add", "/b", value=2), {"a": 1, "b": 2}),
        ({"a": 1}, op("add", "/a", value=2), {"a": 2}),
        ({"a": [1, 3]}, op("add", "/a/1", value=2), {"a": [1, 2, 3]}),
        ({"a": [1]}, op("add", "/a/-", value=2), {"a": [1, 2]}),
        ({"a": [1]}, op("add", "/a/1", value=2), {"a": [1, 2]}),
        ({"a": [1]}, op("add", "/a/-1", value=2), {"a": [1, 2]}),
        ({"a": 1}, op("add", "/b"), {"a": 1, "b": None}),
        ({"a/b": 1, "m~n": 2}, op("replace", "/a~1b", value=3), {"a/b": 3, "m~n": 2}),
        ({"a/b": 1, "m~n": 2}, op("remove", "/m~0n"), {"a/b": 1}),
        ({"~1": 1}, op("remove", "/~01"), {}),
        ({"a": [1, 2, 3]}, op("remove", "/a/1"), {"a": [1, 3]}),
        ({"a": [1, 2, 3]}, op("remove", "/a/-1"), {"a": [1, 2]}),
        ({"a": [1, 2]}, op("replace", "/a/0", value=5), {"a": [5, 2]}),
        ({"a": 1}, op("replace", "/b", value=2), {"a": 1, "b": 2}),  # a missing key is added
        ({"a": 1}, op("replace", "", value={"b": 2}), {"b": 2}),
        ({"a": {"b": 1}}, op("move", "/c", **{"from": "/a/b"}), {"a": {}, "c": 1}),
        ({"a": [1, 2]}, op("move", "/a/0", **{"from": "/a/1"}), {"a": [2, 1]}),
        ({"a": {"b": 1}}, op("copy", "/c", **{"from": "/a"}), {"a": {"b": 1}, "c": {"b": 1}}),
        ({"a": {"b": [1]}}, op("test", "/a", value={"b": [1]}), {"a": {"b": [1]}}),
        ({"a": 1}, op("test", "/b", value=None), {"a": 1}),
        ({"a": 1}, op("test", "", value={"a": 1}), {"a": 1}),
        ({"": 1}, op("remove", "/"), {}),
    ],
)
def test_operations(document: Any, operation: Any, expected: Any) -> None:
    before = copy.deepcopy(document)
    assert json_patch.apply(document, [operation]) == expected
    assert document == before


@pytest.mark.parametrize(
    "operation",
    [
        op("remove", "/missing"),
        op("add", "/missing/b", value=1),
        op("add", "/s/b", value=1),
        op("add", "/l/3", value=1),
        op("add", "/l/x", value=1),
        op("replace", "/l/2", value=1),
        op("replace", "/l/-", value=1),
        op("remove", "/l/ 1"),
        op("remove", "/l/1_0"),
        op("remove", "/l/-3"),
        op("test", "/n", value=True),
        op("test", "/n", value=1.0),
        op("test", "/n"),
        op("replace", "", value=3),
        op("add", "no-slash", value=1),
        op("move", "/x", **{"from": "/missing"}),
        op("copy", "/x/y", **{"from": "/n"}),
        op("add", "", value=1),
        op("leap", "/n"),
        {"path": "/n"},
        {"op": "add"},
        {"op": "move", "path": "/x"},
        None,
    ],
)
def test_what_does_not_apply_is_unprocessable(operation: Any) -> None:
    with pytest.raises(StatusError) as caught:
        json_patch.apply({"n": 1, "s": "t", "l": [1, 2]}, [operation])
    assert (caught.value.code, caught.value.reason) == (422, "Invalid")
    assert caught.value.message == "the server rejected our request due to an error in our request"


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({}, "object into Go value of type []handlers.jsonPatchOp"),
        ([1], "number into Go value of type handlers.jsonPatchOp"),
        ([{"op": "add", "path": 3}], "number into Go struct field jsonPatchOp.path of type string"),
    ],
)
def test_malformed(patch: Any, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        json_patch.apply({}, patch)
    assert caught.value.code == 400
    assert caught.value.message == f"error decoding patch: json: cannot unmarshal {message}"


def test_limits() -> None:
    with pytest.raises(StatusError) as caught:
        json_patch.apply({}, [op("add", "/a", value=1)] * 10_001)
    assert caught.value.code == 413
    assert caught.value.message.endswith("The allowed maximum operations in a JSON patch is 10000, got 10001")
    doubling = [op("copy", f"/{n}", **{"from": ""}) for n in range(60)]
    with pytest.raises(StatusError):
        json_patch.apply({"a": "x" * 100}, doubling)
    doubling = [op("copy", "/a/-", **{"from": "/a"}) for _ in range(60)]
    with pytest.raises(StatusError) as caught:
        json_patch.apply({"a": ["x" * 100]}, doubling)
    assert caught.value.code == 422


@given(JSON, JSON)
def test_add_then_test_then_remove(document: Any, value: Any) -> None:
    whole = {"kept": document}
    patch = [op("add", "/new~1", value=value), op("test", "/new~1", value=value)]
    added = json_patch.apply(whole, patch)
    assert added == {"kept": document, "new/": value}
    assert json_patch.apply(added, [op("remove", "/new~1")]) == whole


POINTERS = st.text("ab/-01~", max_size=5)
OPERATIONS = st.fixed_dictionaries(
    {"op": st.sampled_from(["add", "remove", "replace", "move", "copy"]), "path": POINTERS},
    optional={"from": POINTERS, "value": JSON},
)


@given(JSON, st.lists(OPERATIONS, max_size=4))
def test_never_fails_otherwise_and_never_mutates(document: Any, patch: Any) -> None:
    before = copy.deepcopy(document)
    try:
        json_patch.apply(document, patch)
    except StatusError as error:
        assert error.code in (400, 413, 422)
    assert document == before


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        ({"op": "add"}, "add operation failed to decode path: missing value"),
        ({"op": "test"}, "test operation failed to decode path: operation missing path field: missing value"),
        (op("copy", "/a"), "copy operation failed to decode from: operation, missing from field: missing value"),
        (op("add", "/x/y", value=1), 'add operation does not apply: doc is missing path: "/x/y": missing value'),
        (op("add", "/n/y", value=1), 'add operation does not apply: doc is missing path: "/n/y": missing value'),
        (op("replace", "/x/y", value=1), "replace operation does not apply: doc is missing path: /x/y: missing value"),
        (op("replace", "/l/7", value=1), "replace operation does not apply: doc is missing key: /l/7: missing value"),
        (op("replace", "", value=1), "replace operation value must be object or array: %!w(<nil>)"),
        (op("remove", "/x"), "error in remove for path: '/x': Unable to remove nonexistent key: x: missing value"),
        (op("remove", "/l/2"), "error in remove for path: '/l/2': Unable to access invalid index: 2: invalid index referenced"),
        (op("add", "/l/x", value=1), "error in add for path: '/l/x': value was not a proper array index: 'x': "
                                     'strconv.Atoi: parsing "x": invalid syntax'),
        (op("move", "/n", **{"from": "/x"}), "error in move for path: 'x': Unable to remove nonexistent key: x: missing value"),
        (op("move", "/x/y", **{"from": "/n"}), "move operation does not apply: doc is missing destination path: /x/y: missing value"),
        (op("copy", "/l/9", **{"from": "/n"}), "error while adding value during copy: Unable to access invalid index: 9: invalid index referenced"),
        (op("copy", "/y", **{"from": "/l/9"}), "error in copy for from: '/l/9': Unable to access invalid index: 9: invalid index referenced"),
        (op("test", "/n", value=2), "testing value /n failed: test failed"),
        (op("test", "", value=2), "testing value  failed: test failed"),
        (op("leap", "/n"), "Unexpected kind: leap"),
        ({}, "Unexpected kind: unknown"),
    ],
)  # fmt: skip
def test_why_an_operation_does_not_apply(operation: Object, why: str) -> None:
    document = {"n": 1, "l": [1, 2]}
    with pytest.raises(json_patch.DoesNotApply, match=f"^{re.escape(why)}$"):
        json_patch.run(document, [operation])
    assert document == {"n": 1, "l": [1, 2]}
