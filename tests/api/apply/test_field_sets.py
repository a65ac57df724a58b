"""The algebra of field sets, checked against plain sets of paths."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api.apply import elements, field_sets
from pybernetes.api.apply.field_sets import FieldSet
from pybernetes.api.resource import Object

ELEMENTS = st.sampled_from(["f:a", "f:b", 'k:{"name":"x"}', 'v:"y"'])
PATHS = st.lists(ELEMENTS, min_size=1, max_size=3).map(tuple)


def make(paths: set[tuple[str, ...]]) -> Object:
    """Return a field set that has exactly these paths."""
    fields: Object = {}
    for path in sorted(paths, key=len):
        node = fields
        for element in path[:-1]:
            if element in node and not node[element]:
                node[element] = {".": {}}
            node = node.setdefault(element, {})
        node.setdefault(path[-1], {})
    return fields


SETS = st.sets(PATHS, max_size=6)


@given(SETS)
def test_paths_give_the_set_back(paths: set[tuple[str, ...]]) -> None:
    assert set(field_sets.paths(make(paths))) == paths
    assert field_sets.ordered(make(paths)) == make(paths)
    assert field_sets.parse(make(paths)) == make(paths)
    assert all(field_sets.has(make(paths), *path) for path in paths)


@given(SETS, SETS)
def test_operations_are_those_of_sets(left: set[tuple[str, ...]], right: set[tuple[str, ...]]) -> None:
    a, b = make(left), make(right)
    assert set(field_sets.paths(field_sets.union(a, b))) == left | right
    assert set(field_sets.paths(field_sets.intersection(a, b))) == left & right
    assert set(field_sets.paths(field_sets.difference(a, b))) == left - right
    below = {path for path in left if not any(path[: len(other)] == other for other in right)}
    assert set(field_sets.paths(field_sets.without(a, b))) == below
    # A set has one form only, or equality of sets would not be equality of what is stored.
    assert field_sets.union(a, b) == make(left | right)
    assert field_sets.difference(a, b) == make(left - right)
    assert field_sets.intersection(a, b) == make(left & right)


@given(SETS, SETS, SETS)
def test_laws(left: Any, right: Any, other: Any) -> None:
    a, b, c = make(left), make(right), make(other)
    assert field_sets.union(a, b) == field_sets.union(b, a)
    assert field_sets.union(a, field_sets.union(b, c)) == field_sets.union(field_sets.union(a, b), c)
    assert field_sets.difference(a, a) == {}
    assert field_sets.union(field_sets.difference(a, b), field_sets.intersection(a, b)) == a


def test_matching_keeps_what_a_pattern_allows() -> None:
    fields = {
        "f:metadata": {"f:labels": {}},
        "f:spec": {
            "f:containers": {'k:{"name":"a"}': {".": {}, "f:image": {}, "f:resources": {"f:limits": {}}}}
        },
    }
    pattern: FieldSet = {"f:spec": {"f:containers": {"*": {"f:resources": {}}}}}
    kept: FieldSet = {
        "f:spec": {"f:containers": {'k:{"name":"a"}': {".": {}, "f:resources": {"f:limits": {}}}}}
    }
    assert field_sets.matching(fields, pattern) == kept


def test_order_is_that_of_kubernetes() -> None:
    fields: FieldSet = {
        'k:{"port":443}': {}, 'v:"b"': {}, "f:b": {}, 'k:{"port":80}': {}, ".": {}, "f:a": {}, "v:3": {},
    }  # fmt: skip
    wanted = [".", "f:a", "f:b", 'k:{"port":80}', 'k:{"port":443}', "v:3", 'v:"b"']
    assert list(field_sets.ordered(fields)) == wanted


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("f:spec", "f:replicas"), ".spec.replicas"),
        (("f:c", 'k:{"name":"a"}', "f:image"), '.c[name="a"].image'),
        (("f:p", 'k:{"port":80,"protocol":"TCP"}'), '.p[port=80,protocol="TCP"]'),
        (("f:finalizers", 'v:"x"'), '.finalizers[="x"]'),
    ],
)
def test_text_of_paths(path: tuple[str, ...], text: str) -> None:
    assert elements.text(path) == text


@pytest.mark.parametrize(
    ("given", "clean"),
    [
        ({"f:a": {".": {}}}, {"f:a": {}}),
        ({".": {}, "f:a": {}}, {"f:a": {}}),
        ({'k:{"b": 1, "a": "<"}': {}}, {'k:{"a":"\\u003c","b":1}': {}}),
        ({"x:unknown": {"f:a": {}}, "f:b": {}}, {"f:b": {}}),
    ],
)
def test_parse(given: Any, clean: Any) -> None:
    assert field_sets.parse(given) == clean


@pytest.mark.parametrize("given", [[], {"f:a": 1}, {"a": {}}, {"k:nonsense": {}}, {"k:[1]": {}}, {"i:x": {}}])
def test_parse_refuses(given: Any) -> None:
    with pytest.raises(ValueError):
        field_sets.parse(given)
