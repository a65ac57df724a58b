"""ResourceQuota."""

import pytest

from pybernetes.api.core import resourcequota
from pybernetes.api.resource import Object
from tests.api.writes import create, row_by_name, update, update_status

QUOTA = resourcequota.RESOURCE


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
def test_checks_of_quotas(spec: Object, expected: list[str]) -> None:
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
    assert row_by_name(QUOTA, new) == {"Name": "x", "Request": "pods: 1/5", "Limit": "limits.cpu: 0/2"}
    assert update_status(QUOTA, old, {"used": {"pods": "-1"}})[1] != []


def test_warnings_of_quotas() -> None:
    quota = create(QUOTA, {"spec": {"hard": {"cpu": "2", "limits.cpu": "1"}}})[0]
    assert QUOTA.warnings is not None
    assert QUOTA.warnings(quota, None) == ["ResourceQuota cpu (2) should be less than limits.cpu (1)"]
