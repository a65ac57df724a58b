import pytest

from pybernetes.api.apps.deployment import RESOURCE
from pybernetes.api.resource import Object
from tests.api.apps.workloads import workload
from tests.api.writes import create_errors, created, updated

PERCENT = "a valid percent string must be a numeric string followed by an ending '%'"
ROLLING = "spec.strategy.rollingUpdate"


def test_defaults() -> None:
    obj = created(RESOURCE, workload())
    spec = {key: value for key, value in obj["spec"].items() if key not in ("selector", "template")}
    assert spec == {
        "replicas": 1,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
    }
    assert obj["status"] == {}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"strategy": {"type": "Recreate"}}, []),
        (
            {"strategy": {"type": "Recreate", "rollingUpdate": {}}},
            [f"{ROLLING}: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
        ),
        (
            {"strategy": {"type": "Blue"}},
            [
                'spec.strategy: Unsupported value: {"Type":"Blue","RollingUpdate":null}: '
                'supported values: "Recreate", "RollingUpdate"'
            ],
        ),
        (
            {"strategy": {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": "0%"}}},
            [f"{ROLLING}.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"],
        ),
        (
            {"strategy": {"rollingUpdate": {"maxUnavailable": "101%", "maxSurge": "x"}}},
            [
                f'{ROLLING}.maxSurge: Invalid value: "x": {PERCENT}',
                f'{ROLLING}.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
            ],
        ),
        (
            {"progressDeadlineSeconds": 5, "minReadySeconds": 5},
            ["spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds"],
        ),
        (
            {"selector": {"matchExpressions": [{"key": "app", "operator": "In"}]}},
            [
                "spec.selector.matchExpressions[0].values: Required value: "
                "must be specified when `operator` is 'In' or 'NotIn'",
                'spec.selector: Invalid value: {"matchExpressions":[{"key":"app","operator":"In"}]}: '
                "invalid label selector",
            ],
        ),
    ],
)
def test_create(spec: Object, expected: list[str]) -> None:
    assert create_errors(RESOURCE, workload(**spec)) == expected


def test_annotations_count_as_a_change() -> None:
    changed = workload() | {"metadata": {"annotations": {"a": "b"}}}
    assert updated(RESOURCE, workload(), changed)[0]["metadata"]["generation"] == 2
