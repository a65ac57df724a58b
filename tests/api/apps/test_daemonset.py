import pytest

from pybernetes.api.apps.daemonset import RESOURCE
from pybernetes.api.resource import Object
from tests.api.apps.workloads import template, workload
from tests.api.writes import create_errors, created, updated

GENERATION = "deprecated.daemonset.template.generation"
ROLLING = "spec.updateStrategy.rollingUpdate"


def test_defaults() -> None:
    obj = created(RESOURCE, workload())
    assert obj["spec"]["updateStrategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0},
    }
    assert obj["spec"]["revisionHistoryLimit"] == 10
    assert obj["metadata"]["annotations"] == {GENERATION: "1"}


def test_template_generation() -> None:
    changed, _ = updated(RESOURCE, workload(), workload(template=template(dnsPolicy="Default")))
    assert changed["metadata"]["annotations"][GENERATION] == "2"
    same, _ = updated(RESOURCE, workload(), workload(minReadySeconds=3))
    assert same["metadata"]["annotations"][GENERATION] == "1"


@pytest.mark.parametrize("text", ["", "²", "-3", "many", "9" * 5000])
def test_a_template_generation_that_is_no_number_begins_anew(text: str) -> None:
    given = {**workload(), "metadata": {"annotations": {GENERATION: text}}}
    assert created(RESOURCE, given)["metadata"]["annotations"] == {GENERATION: "1"}


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ({"type": "OnDelete"}, []),
        (
            {"type": "Sometimes"},
            [
                'spec.updateStrategy: Unsupported value: {"Type":"Sometimes","RollingUpdate":null}: '
                'supported values: "RollingUpdate", "OnDelete"'
            ],
        ),
        (
            {"rollingUpdate": {"maxSurge": 1}},
            [f"{ROLLING}.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero"],
        ),
        (
            {"rollingUpdate": {"maxUnavailable": 0}},
            [f"{ROLLING}.maxUnavailable: Required value: cannot be 0 when maxSurge is 0"],
        ),
    ],
)
def test_strategy(strategy: Object, expected: list[str]) -> None:
    assert create_errors(RESOURCE, workload(updateStrategy=strategy)) == expected
