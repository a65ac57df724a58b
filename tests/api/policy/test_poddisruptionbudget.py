import pytest

from pybernetes.api.policy.poddisruptionbudget import RESOURCE
from pybernetes.api.resource import Object
from tests.api.writes import create_errors, created, row, status_errors

MARK = {"key": "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"}


def test_starts_with_zeros() -> None:
    assert created(RESOURCE, {})["status"] == {
        "disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("selector", "stored"),
    [
        ({"matchExpressions": [MARK | {"operator": "Exists"}]},) * 2,
        ({"matchExpressions": [MARK | {"operator": "DoesNotExist"}]}, {}),
        (
            {"matchLabels": {"a": "b"}, "matchExpressions": [MARK | {"operator": "Exists"}]},
            {"matchLabels": {"a": "b"}},
        ),
    ],
)
def test_beta_marker(selector: Object, stored: Object) -> None:
    assert created(RESOURCE, {"spec": {"selector": selector}})["spec"]["selector"] == stored


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            {"minAvailable": 1, "maxUnavailable": "5%"},
            [
                'spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":"5%",'
                '"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set'
            ],
        ),
        ({"minAvailable": -1}, ["spec.minAvailable: Invalid value: -1: must be greater than or equal to 0"]),
        (
            {"minAvailable": "101%"},
            ['spec.minAvailable: Invalid value: "101%": must not be greater than 100%'],
        ),
        (
            {"maxUnavailable": "some"},
            [
                'spec.maxUnavailable: Invalid value: "some": a valid percent string must be a numeric string '
                "followed by an ending '%'"
            ],
        ),
        (
            {"unhealthyPodEvictionPolicy": "Never"},
            [
                'spec.unhealthyPodEvictionPolicy: Unsupported value: "Never": '
                'supported values: "AlwaysAllow", "IfHealthyBudget"'
            ],
        ),
    ],
)
def test_create(spec: Object, expected: list[str]) -> None:
    assert create_errors(RESOURCE, {"spec": spec}) == expected


def test_status() -> None:
    assert status_errors(RESOURCE, {}, {"currentHealthy": -1}) == [
        "status.currentHealthy: Invalid value: -1: must be greater than or equal to 0"
    ]


def test_columns() -> None:
    assert row(RESOURCE, {"spec": {"minAvailable": 2}}) == ["name", "2", "N/A", 0]
    assert row(RESOURCE, {"spec": {"maxUnavailable": "5%"}, "status": {"disruptionsAllowed": 1}}) == [
        "name", "N/A", "5%", 1,
    ]  # fmt: skip
