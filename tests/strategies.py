"""Hypothesis strategies for any type of the API: JSON that fits the schema, sensible or not.

``objects(type_)`` gives values as the API server's decoder hands them to a kind: of the right types, without nulls,
quantities and times in their canonical form, no empty lists and maps. Use it in every kind's tests to show
that defaults, checks and columns never raise:

    @given(strategies.kind(RESOURCE))
    def test_never_raises(obj): ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from pybernetes.api import quantity
from pybernetes.api.resource import Resource
from pybernetes.api.schema import Type

# Words that checks look for, so that generated objects get past the first complaint now and then.
WORDS = (
    "", "a", "b", "name", "v1", "..", "../x", "/x", "localhost/x", "a.b/c", "-", "a" * 64, "é", "Always", "Never",
    "OnFailure", "Exists", "Equal", "In", "NotIn", "Gt", "DoesNotExist", "cpu", "memory", "hugepages-2Mi",
    "hugepages-x", "example.com/gpu", "requests.cpu", "limits.memory", "metadata.name", "metadata.labels['a']",
    "TCP", "HTTP", "File", "Localhost", "RuntimeDefault", "None", "windows", "linux", "Memory", "Disabled",
    "DoNotSchedule", "True", "False", "Ready", "net.core.x", "10.0.0.1", "::1", "iqn.2001-04.a:b", "1", "nginx:1",
)  # fmt: skip
_NUMBERS = st.one_of(st.sampled_from((0, 1, -1, 80, 65536, 2**31 - 1)), st.integers(-(2**31), 2**31 - 1))
_LARGE = st.one_of(_NUMBERS, st.sampled_from((2**63 - 1, -(2**63))))
_TEXT = st.one_of(st.sampled_from(WORDS), st.text(max_size=6))
_QUANTITIES = st.sampled_from(("0", "1", "-1", "100m", "1500m", "1u", "2Mi", "1Gi", "1e3", "1e-9", "3", "9E"))
_TIMES = ("2026-01-02T03:04:05Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z")
_SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "string": _TEXT,
    "boolean": st.booleans(),
    "number": st.one_of(st.integers(-9, 9), st.floats(allow_nan=False, allow_infinity=False)),
    "bytes": st.sampled_from(("", "YQ==", "aGVsbG8=")),
    "quantity": _QUANTITIES.map(quantity.canonical),
    "int-or-string": st.one_of(_NUMBERS, _TEXT, st.sampled_from(("10%", "150%"))),
    "time": st.sampled_from(_TIMES),
    "microtime": st.sampled_from([time.replace("Z", ".000001Z") for time in _TIMES]),
    "any": st.one_of(
        st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), st.text(max_size=3), st.just({"a": [1]})
    ),  # no integer is larger after the JSON or YAML of a request was read
}


def _scalar(type_: Type) -> st.SearchStrategy[Any]:
    if type_.kind == "integer":
        return _NUMBERS if type_.format == "int32" else _LARGE
    return _SCALARS[type_.kind]


def _draw(draw: Callable[[Any], Any], type_: Type, depth: int) -> Any:
    if type_.kind == "struct":
        fields = type_.fields
        required = [key for key in fields if key in type_.required]
        count = draw(st.integers(0, 4 if depth else 0))
        chosen = draw(st.lists(st.sampled_from(list(fields)), max_size=count, unique=True)) if fields else []
        # A required field is left out now and then: the decoder does not ask for it.
        keys = [*chosen, *(key for key in required if key not in chosen and draw(st.integers(0, 3)))]
        value = {key: _draw(draw, fields[key], depth - 1) for key in keys}
        return {
            key: item for key, item in value.items()
            if item or fields[key].kind not in ("list", "map") or key in type_.required
        }  # fmt: skip
    if type_.kind in ("list", "map"):
        assert type_.item is not None
        count = draw(st.integers(0, 2)) if depth > 0 else 0
        if type_.kind == "list":
            return [_draw(draw, type_.item, depth - 1) for _ in range(count)]
        return {draw(_TEXT): _draw(draw, type_.item, depth - 1) for _ in range(count)}
    return draw(_scalar(type_))


@st.composite
def objects(draw: Callable[[Any], Any], type_: Type, depth: int = 6) -> Any:
    """Return values of a type, ``depth`` levels of optional fields deep."""
    return _draw(draw, type_, depth)


@st.composite
def kind(draw: Callable[[Any], Any], resource: Resource, depth: int = 7) -> dict[str, Any]:
    """Return objects of a kind, with the metadata that every object has when a kind's functions see it."""
    obj = _draw(draw, resource.type, depth)
    metadata = {**obj.get("metadata", {}), "name": "name", "creationTimestamp": _TIMES[0]}
    if resource.namespaced:
        metadata["namespace"] = "default"
    return {**obj, "apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}
