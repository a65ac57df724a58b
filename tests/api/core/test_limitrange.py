"""LimitRange."""

import pytest

from pybernetes.api.core import limitrange
from pybernetes.api.resource import Object
from tests.api.writes import create

LIMITS = limitrange.RESOURCE


def test_defaults_of_limits() -> None:
    item = {
        "type": "Container",
        "max": {"cpu": "2"},
        "min": {"cpu": "1", "memory": "1Gi"},
        "default": {"storage": "1"},
    }
    [filled] = create(LIMITS, {"spec": {"limits": [item]}})[0]["spec"]["limits"]
    assert filled["default"] == {"cpu": "2", "storage": "1"}
    assert filled["defaultRequest"] == {"cpu": "2", "storage": "1", "memory": "1Gi"}
    [plain] = create(LIMITS, {"spec": {"limits": [{"type": "Pod", "max": {"cpu": "2"}}]}})[0]["spec"][
        "limits"
    ]
    assert plain == {"type": "Pod", "max": {"cpu": "2"}}


def test_limits_without_a_name_get_one() -> None:
    assert len(create(LIMITS, {"metadata": {"name": ""}})[0]["metadata"]["name"]) == 36


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([{"type": "X"}], ['spec.limits[0].type: Invalid value: "X": must be a standard limit type or fully qualified']),
        ([{"type": "Pod"}, {"type": "Pod"}], ['spec.limits[1].type: Duplicate value: "Pod"']),
        ([{"type": "Pod", "default": {"cpu": "1"}}], ["spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'"]),
        ([{"type": "PersistentVolumeClaim"}],
         ["spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided"]),
        ([{"type": "Pod", "max": {"cpu": "1"}, "min": {"cpu": "2"}}],
         ['spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1']),
        ([{"type": "Container", "max": {"cpu": "1"}, "default": {"cpu": "2"}, "defaultRequest": {"cpu": "1"}}],
         ['spec.limits[0].default[cpu]: Invalid value: "1": default value 2 is greater than max value 1']),
        ([{"type": "Pod", "maxLimitRequestRatio": {"cpu": "500m"}}],
         ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1']),
        ([{"type": "Pod", "max": {"cpu": "2"}, "min": {"cpu": "1"}, "maxLimitRequestRatio": {"cpu": "3"}}],
         ['spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000']),
        ([{"type": "Container", "default": {"a.b/c": "2"}, "defaultRequest": {"a.b/c": "1"}}],
         ['spec.limits[0].defaultRequest[a.b/c]: Invalid value: "1": default value 2 must equal to defaultRequest value 1 in a.b/c']),
        ([{"type": "Pod", "max": {"storage": "1"}}],
         ['spec.limits[0].max[storage]: Invalid value: "storage": must be a standard resource for containers']),
    ],
)  # fmt: skip
def test_checks_of_limits(items: list[Object], expected: list[str]) -> None:
    assert create(LIMITS, {"spec": {"limits": items}})[1] == expected
