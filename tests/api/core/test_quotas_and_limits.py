"""ResourceQuota and LimitRange."""

from typing import Any

import pytest

from pybernetes.api.core import limitrange, resourcequota
from tests.kinds import create, row, update, update_status

QUOTA, LIMITS = resourcequota.RESOURCE, limitrange.RESOURCE


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"hard": {"cpu": "1", "count/pods": "1", "requests.example.com/gpu": "1", "hugepages-2Mi": "1"}}, []),
        ({"hard": {"x": "1"}},
         ['spec.hard[x]: Invalid value: "x": must be a standard resource type or fully qualified',
          'spec.hard[x]: Invalid value: "x": must be a standard resource for quota']),
        ({"hard": {"pods": "1500m"}}, ['spec.hard[pods]: Invalid value: "1500m": must be an integer']),
        ({"hard": {"cpu": "-1"}}, ['spec.hard[cpu]: Invalid value: "-1": must be greater than or equal to 0']),
        ({"hard": {"cpu": "1"}, "scopes": ["BestEffort"]},
         ['spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource']),
        ({"scopes": ["Terminating", "NotTerminating"]},
         ['spec.scopes: Invalid value: ["Terminating","NotTerminating"]: conflicting scopes']),
        ({"scopes": ["X"]}, ['spec.scopes: Invalid value: ["X"]: unsupported scope']),
        ({"scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In"}]}},
         ["spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"]),
        ({"hard": {"cpu": "1"}, "scopeSelector": {"matchExpressions": [{"scopeName": "BestEffort", "operator": "Exists"}]}},
         ['spec.scopeSelector.matchExpressions: Invalid value: {"MatchExpressions":[{"ScopeName":"BestEffort","Operator":"Exists","Values":null}]}: '
          "unsupported scope applied to resource"]),
    ],
)  # fmt: skip
def test_checks_of_quotas(spec: dict[str, Any], expected: list[str]) -> None:
    assert create(QUOTA, {"spec": spec})[1] == expected


def test_scopes_stay() -> None:
    old = create(QUOTA, {"spec": {"hard": {"pods": "1"}, "scopes": ["BestEffort"]}})[0]
    assert update(QUOTA, old, {"spec.scopes": None})[1] == [
        "spec.scopes: Invalid value: null: field is immutable"
    ]
    assert update(QUOTA, old, {"spec.hard": {"pods": "2"}})[1] == []


def test_status_of_quotas() -> None:
    old = create(QUOTA, {})[0]
    assert old["status"] == {}
    new, errors = update_status(QUOTA, old, {"hard": {"pods": "5", "limits.cpu": "2"}, "used": {"pods": "1"}})
    assert errors == []
    assert row(QUOTA, new) == {"Name": "x", "Request": "pods: 1/5", "Limit": "limits.cpu: 0/2"}
    assert update_status(QUOTA, old, {"used": {"pods": "-1"}})[1] != []


def test_warnings_of_quotas() -> None:
    quota = create(QUOTA, {"spec": {"hard": {"cpu": "2", "limits.cpu": "1"}}})[0]
    assert QUOTA.warnings is not None
    assert QUOTA.warnings(quota, None) == ["ResourceQuota cpu (2) should be less than limits.cpu (1)"]


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
def test_checks_of_limits(items: list[dict[str, Any]], expected: list[str]) -> None:
    assert create(LIMITS, {"spec": {"limits": items}})[1] == expected
