"""Which nodes take which pods."""

from __future__ import annotations

import pytest

from pybernetes.api.core.pod.placement import required_affinity, tolerates, untolerated
from pybernetes.api.resource import Object

TAINT = {"key": "a", "value": "b", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "a", "operator": "Exists"}, True),
        ({"key": "a", "value": "b"}, True),
        ({"key": "a", "operator": "Equal", "value": "c"}, False),
        ({"key": "x", "operator": "Exists"}, False),
        ({"operator": "Exists", "effect": "NoExecute"}, False),
        ({"operator": "Exists", "effect": "NoSchedule"}, True),
        ({"key": "a", "operator": "Gt", "value": "1"}, False),
    ],
)
def test_tolerations(toleration: Object, expected: bool) -> None:
    assert tolerates(toleration, TAINT) is expected


def test_only_some_effects_matter() -> None:
    assert untolerated([TAINT], [], ("NoExecute",)) is None
    assert untolerated([TAINT], None, ("NoSchedule",)) == TAINT
    assert untolerated(None, [], ("NoSchedule",)) is None


def affinity(*terms: Object) -> Object:
    required = {"nodeSelectorTerms": list(terms)}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


def expression(key: str, operator: str, *values: str) -> Object:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, True),
        ({"nodeSelector": {"zone": "a"}}, True),
        ({"nodeSelector": {"zone": "b"}}, False),
        (affinity(), False),
        (affinity({}), False),
        (affinity(expression("zone", "In", "a", "b")), True),
        (affinity(expression("zone", "NotIn", "a")), False),
        (affinity(expression("none", "NotIn", "a")), True),
        (affinity(expression("zone", "Exists")), True),
        (affinity(expression("none", "DoesNotExist")), True),
        (affinity(expression("size", "Gt", "3")), True),
        (affinity(expression("size", "Lt", "3")), False),
        (affinity(expression("zone", "Gt", "3")), False),
        (affinity(expression("zone", "In", "b"), expression("size", "Exists")), True),
        (affinity({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}), True),
        (affinity({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["m"]}]}), False),
        ({**affinity(expression("zone", "Exists")), "nodeSelector": {"zone": "b"}}, False),
    ],
)
def test_affinity(spec: Object, expected: bool) -> None:
    node = {"metadata": {"name": "n", "labels": {"zone": "a", "size": "5"}}}
    assert required_affinity(spec)(node) is expected
