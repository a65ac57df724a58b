from typing import Any

import pytest

from pybernetes.api.batch.job import job
from pybernetes.api.batch.job.job import RESOURCE
from pybernetes.api.resource import Object
from tests.api.batch.jobs import INDEXED, POD, a_job
from tests.api.writes import create_errors, created, decoded, row, update_errors

RULES = "spec.podFailurePolicy.rules[0]"


def test_defaults() -> None:
    spec = created(RESOURCE, a_job())["spec"]
    del spec["template"], spec["selector"]
    assert spec == {
        "parallelism": 1,
        "completions": 1,
        "backoffLimit": 6,
        "manualSelector": False,
        "completionMode": "NonIndexed",
        "suspend": False,
        "podReplacementPolicy": "TerminatingOrFailed",
    }
    assert "completions" not in created(RESOURCE, a_job(parallelism=3))["spec"]
    assert created(RESOURCE, a_job(**INDEXED, backoffLimitPerIndex=1))["spec"]["backoffLimit"] == 2**31 - 1


def test_labels_and_selector_are_made() -> None:
    obj = created(RESOURCE, a_job({"a": "b"}))
    labels = {
        "a": "b",
        "controller-uid": "UID",
        "batch.kubernetes.io/controller-uid": "UID",
        "job-name": "name",
        "batch.kubernetes.io/job-name": "name",
    }
    assert obj["spec"]["template"]["metadata"]["labels"] == labels == obj["metadata"]["labels"]
    assert obj["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": "UID"}}
    own = created(RESOURCE, {**a_job({"a": "b"}), "metadata": {"labels": {"x": "y"}}})
    assert own["metadata"]["labels"] == {"x": "y"}


def test_manual_selector() -> None:
    selector = {"matchLabels": {"a": "b"}}
    obj = created(RESOURCE, a_job({"a": "b"}, manualSelector=True, selector=selector))
    assert obj["spec"]["template"]["metadata"]["labels"] == {"a": "b"}
    assert create_errors(RESOURCE, a_job({"a": "b"}, manualSelector=True)) == [
        "spec.selector: Required value",
        'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
    ]


def test_foreign_labels() -> None:
    errors = create_errors(RESOURCE, a_job({"job-name": "other"}))
    assert len(errors) == 1
    assert errors[0].startswith("spec.template.metadata.labels[job-name]: Invalid value: {")
    assert errors[0].endswith("must be 'name'")


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (
            a_job(pod={"restartPolicy": "Always"}),
            ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
        ),
        (
            a_job(backoffLimit=-1),
            ["spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0"],
        ),
        (
            a_job(managedBy="me"),
            ['spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")'],
        ),
        (
            a_job(completionMode="Indexed", parallelism=2),
            ["spec.completions: Required value: when completion mode is Indexed"],
        ),
        (
            a_job(**INDEXED, parallelism=100_001),
            [
                "spec.parallelism: Invalid value: 100001: "
                "must be less than or equal to 100000 when completion mode is Indexed"
            ],
        ),
        (
            a_job(backoffLimitPerIndex=1),
            ["spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"],
        ),
        (
            a_job(**INDEXED, maxFailedIndexes=1),
            ["spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified"],
        ),
        (
            a_job(podReplacementPolicy="Any"),
            [
                'spec.podReplacementPolicy: Unsupported value: "Any": supported values: "Failed", "TerminatingOrFailed"'
            ],
        ),
        (
            {**a_job(**INDEXED), "metadata": {"name": "n" * 62}},
            [
                f'metadata.name: Invalid value: "{"n" * 62}": '
                f"will not able to create pod with invalid DNS label: {'n' * 62}-4"
            ],
        ),
        (
            a_job(podFailurePolicy={"rules": [{}]}),
            [
                f'{RULES}.action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]',
                f"{RULES}: Invalid value: specifying one of OnExitCodes and OnPodConditions is required",
            ],
        ),
        (
            a_job(
                podFailurePolicy={
                    "rules": [{"action": "Count", "onExitCodes": {"operator": "In", "values": [5, 0, 5]}}]
                }
            ),
            [
                f"{RULES}.onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator",
                f"{RULES}.onExitCodes.values[2]: Duplicate value: 5",
                f"{RULES}.onExitCodes.values: Invalid value: [5,0,5]: must be ordered",
            ],
        ),
        (
            a_job(successPolicy={"rules": [{"succeededIndexes": "0"}]}),
            [
                'spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":"0","SucceededCount":null}]}: '
                "requires indexed completion mode"
            ],
        ),
        (
            a_job(**INDEXED, successPolicy={"rules": [{"succeededIndexes": "0-2,9"}, {"succeededCount": 6}]}),
            [
                'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "0-2,9": '
                'error parsing succeededIndexes: too large index: "9"',
                "spec.successPolicy.rules[1].succeededCount: Invalid value: 6: "
                "must be less than or equal to 5 (the number of specified completions)",
            ],
        ),
    ],
)
def test_create(obj: Object, expected: list[str]) -> None:
    assert create_errors(RESOURCE, obj) == expected


def change(old: Object, pod: Object | None = None, **spec: Any) -> list[str]:
    """Return what an update of a stored job complains about."""
    new = created(RESOURCE, old)
    new["spec"].update(spec)
    new["spec"]["template"]["spec"].update(pod or {})
    return [error[:70] for error in update_errors(RESOURCE, old, new)]


def test_update() -> None:
    assert change(a_job(), parallelism=4, suspend=True, backoffLimit=1) == []
    assert change(a_job(), completions=4) == ["spec.completions: Invalid value: 4: field is immutable"]
    assert change(a_job(), completionMode="Indexed")[0].startswith("spec.completionMode: Invalid value")
    assert change(a_job(**INDEXED), completions=6) == [
        "spec.completions: Invalid value: 6: can only be modified in tandem with spec.parallelism"[:70]
    ]
    assert change(a_job(**INDEXED), completions=6, parallelism=6) == []


def test_template_update() -> None:
    more = [{**POD["containers"][0], "resources": {"requests": {"cpu": "1"}}}]
    terms = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    for pod in ({"nodeSelector": {"a": "b"}}, {"containers": more}, {"affinity": affinity}):
        assert change(a_job(suspend=True), pod) == []
        assert change(a_job(), pod)[0].startswith("spec.template: Invalid value")
    assert change(a_job(suspend=True), {"dnsPolicy": "Default"})[0].startswith(
        "spec.template.spec: Invalid value"
    )


def test_warnings() -> None:
    obj = decoded(RESOURCE, a_job(completionMode="Indexed", completions=200_000, parallelism=20_000))
    assert len(job.warnings(obj, None)) == 1
    assert job.warnings(obj, obj) == []


@pytest.mark.parametrize(
    ("spec", "status", "shown"),
    [
        ({"completions": 3}, {"succeeded": 2}, ["Running", "2/3", ""]),
        ({"parallelism": 3}, {}, ["Running", "0/1 of 3", ""]),
        ({}, {"conditions": [{"type": "Suspended", "status": "True"}]}, ["Suspended", "0/1", ""]),
        (
            {"completions": 1},
            {
                "conditions": [{"type": "Complete", "status": "True"}],
                "succeeded": 1,
                "startTime": "2024-01-01T00:00:00Z",
                "completionTime": "2024-01-01T00:01:30Z",
            },
            ["Complete", "1/1", "90s"],
        ),
    ],
)
def test_columns(spec: Object, status: Object, shown: list[str]) -> None:
    assert row(RESOURCE, a_job(**spec) | {"status": status}) == ["name", *shown, "c", "i", "<none>"]
