"""Validation rules."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.customresource import rule_costs, rules
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object


def schema(*given: Object, **more: Any) -> Object:
    """Return a root schema whose field ``spec`` has rules."""
    return {"type": "object", "properties": {"spec": {"x-kubernetes-validations": list(given), **more}}}


def problems(root: Object, new: Any, old: Any = None) -> list[str]:
    reported = Errors()
    before = {"spec": old} if old is not None else None
    rules.validate(rules.build(root, root=True), {"spec": new}, before, reported)
    return [str(problem) for problem in reported]


OBJECT = {
    "type": "object",
    "properties": {
        "min": {"type": "integer"}, "max": {"type": "integer"}, "ratio": {"type": "number"},
        "names": {"type": "array", "items": {"type": "string"}}, "port": {"x-kubernetes-int-or-string": True},
        "at": {"type": "string", "format": "date-time"}, "for": {"type": "string", "format": "duration"},
        "a-b": {"type": "string"}, "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "value", "expected"),
    [
        ({"rule": "self.min <= self.max"}, {"min": 1, "max": 2}, []),
        ({"rule": "self.min <= self.max"}, {"min": 3, "max": 2},
         ["spec: Invalid value: failed rule: self.min <= self.max"]),
        ({"rule": "self.min <= self.max", "message": "too small"}, {"min": 3, "max": 2},
         ["spec: Invalid value: too small"]),
        ({"rule": "self.min <= self.max", "messageExpression": "'%d is too big'.format([self.min])"},
         {"min": 3, "max": 2}, ["spec: Invalid value: 3 is too big"]),
        ({"rule": "self.min <= self.max", "fieldPath": ".min", "reason": "FieldValueForbidden", "message": "no"},
         {"min": 3, "max": 2}, ["spec.min: Forbidden: no"]),
        ({"rule": "false", "fieldPath": ".labels['a.b']", "message": "no"}, {}, ["spec.labels[a.b]: Invalid value: no"]),
        ({"rule": "false", "fieldPath": "['a-b']", "message": "no"}, {}, ["spec.a-b: Invalid value: no"]),
        ({"rule": "self.min > 0"}, {}, ["spec: Invalid value: \"object\": no such key: min evaluating rule: self.min > 0"]),
        ({"rule": "has(self.min)"}, {}, ["spec: Invalid value: failed rule: has(self.min)"]),
        ({"rule": "self.ratio == 1.0"}, {"ratio": 1}, []),
        ({"rule": "self.names.all(n, n.startsWith('a'))"}, {"names": ["ab", "ac"]}, []),
        ({"rule": "self.names.isSorted()"}, {"names": ["b", "a"]},
         ["spec: Invalid value: failed rule: self.names.isSorted()"]),
        ({"rule": "type(self.port) == int ? self.port > 0 : self.port != ''"}, {"port": "x"}, []),
        ({"rule": "self.at < timestamp('2027-01-01T00:00:00Z')"}, {"at": "2026-01-01T00:00:00Z"}, []),
        ({"rule": "self.__for__ < duration('1h')"}, {"for": "1m30s"}, []),
        ({"rule": "self.a__dash__b.find('[0-9]+') == '12'"}, {"a-b": "x12"}, []),
        ({"rule": "self.labels.exists(k, k == 'x-y')"}, {"labels": {"x-y": "1"}}, []),
        ({"rule": "self.?min.orValue(5) == 5"}, {}, []),
    ],
)  # fmt: skip
def test_rules(rule: Object, value: Any, expected: list[str]) -> None:
    assert problems(schema(rule, **OBJECT), value) == expected


def test_rules_about_changes() -> None:
    root = schema({"rule": "self == oldSelf", "message": "fixed"}, type="string")
    assert problems(root, "a") == []
    assert problems(root, "a", "a") == []
    assert problems(root, "b", "a") == ['spec: Invalid value: "b": fixed']


def test_an_optional_old_value() -> None:
    rule = {
        "rule": "oldSelf.hasValue() || self == 'first'",
        "optionalOldSelf": True,
        "message": "wrong start",
    }
    root = schema(rule, type="string")
    assert problems(root, "first") == []
    assert problems(root, "second") == ['spec: Invalid value: "second": wrong start']
    assert problems(root, "second", "first") == []


def test_what_did_not_change_is_forgiven() -> None:
    root = schema({"rule": "self > 3"}, type="integer")
    assert problems(root, 1, 1) == []
    assert problems(root, 1, 2) == ["spec: Invalid value: 1: failed rule: self > 3"]


def test_items_are_compared_by_key() -> None:
    item = {
        "type": "object", "properties": {"name": {"type": "string"}, "v": {"type": "integer"}},
        "x-kubernetes-validations": [{"rule": "self.v >= oldSelf.v", "message": "may only grow"}],
    }  # fmt: skip
    keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
    root = {"type": "object", "properties": {"spec": {"type": "array", "items": item, **keyed}}}
    old, new = [{"name": "a", "v": 2}], [{"name": "b", "v": 0}, {"name": "a", "v": 1}]
    assert problems(root, new, old) == ["spec[1]: Invalid value: may only grow"]


def test_rules_wait_for_an_object_that_is_right_otherwise() -> None:
    reported = Errors()
    reported.required("spec.min")
    rules.validate(rules.build(schema({"rule": "false"}, type="object")), {"spec": {}}, None, reported)
    assert len(reported) == 2 and "some validation rules were not checked" in str(reported[1])


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("self.min <=", "Syntax error"),
        ("nobody == 1", "undeclared reference to 'nobody'"),
        ("self.min.unknown()", "undeclared reference to 'unknown'"),
        ("'text'", "must evaluate to a bool"),
    ],
)
def test_rules_that_cannot_be_compiled(rule: str, words: str) -> None:
    reported = Errors()
    rule_costs.check_definition(schema({"rule": rule}, **OBJECT), Path("schema"), reported)
    assert len(reported) == 1 and words in str(reported[0])
    assert reported[0].field == "schema.properties[spec].x-kubernetes-validations[0].rule"


def test_the_name_is_there_for_rules_at_the_root() -> None:
    root = {"type": "object", "x-kubernetes-validations": [{"rule": "self.metadata.name.startsWith('a')"}]}
    reported = Errors()
    node = rules.build(root, root=True)
    rules.validate(node, {"metadata": {"name": "b"}}, None, reported)
    assert [str(problem) for problem in reported] == [
        "<nil>: Invalid value: failed rule: self.metadata.name.startsWith('a')"
    ]
