"""Policies read from the labels of namespaces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api.core.pod.security_standards.policy import (
    LEVELS,
    PREFIX,
    Policy,
    Standard,
    level_problem,
    policy_of,
    version_number,
    version_problem,
)
from pybernetes.api.field import Errors

DEFAULTS = Policy(Standard("baseline"), Standard("restricted", 20), Standard("privileged"))


@pytest.mark.parametrize(
    ("labels", "defaults", "expected"),
    [
        ({}, Policy(), ("privileged:latest", "privileged:latest", "privileged:latest")),
        ({}, DEFAULTS, ("baseline:latest", "restricted:v1.20", "privileged:latest")),
        ({"enforce": "baseline"}, Policy(), ("baseline:latest", "privileged:latest", "baseline:latest")),
        (
            {"enforce": "baseline", "enforce-version": "v1.30"},
            Policy(),
            ("baseline:v1.30", "privileged:latest", "baseline:v1.30"),
        ),
        (
            {"enforce": "baseline", "enforce-version": "v1.30", "warn-version": "v1.2"},
            Policy(),
            ("baseline:v1.30", "privileged:latest", "baseline:v1.2"),
        ),
        (
            {"enforce": "restricted", "warn": "privileged"},
            Policy(),
            ("restricted:latest", "privileged:latest", "privileged:latest"),
        ),
        ({"enforce": "privileged"}, DEFAULTS, ("privileged:latest", "restricted:v1.20", "privileged:latest")),
        ({"audit": "baseline"}, Policy(), ("privileged:latest", "baseline:latest", "privileged:latest")),
    ],
)
def test_labels(labels: dict[str, str], defaults: Policy, expected: tuple[str, str, str]) -> None:
    errors = Errors()
    policy = policy_of({PREFIX + key: value for key, value in labels.items()}, defaults, errors)
    assert (str(policy.enforce), str(policy.audit), str(policy.warn)) == expected and not errors


def test_labels_that_are_wrong() -> None:
    labels = {"enforce": "x", "enforce-version": "v2.1", "audit": "y", "warn": "z", "warn-version": "latest"}
    errors = Errors()
    policy = policy_of({PREFIX + key: value for key, value in labels.items()}, Policy(), errors)
    assert (
        str(policy.enforce) == "restricted:latest"
        and str(policy.audit) == str(policy.warn) == "privileged:latest"
    )
    assert [str(error) for error in errors] == [
        f'metadata.labels[{PREFIX}enforce]: Invalid value: "x": must be one of privileged, baseline, restricted',
        f'metadata.labels[{PREFIX}enforce-version]: Invalid value: "v2.1": must be "latest" or "v1.x"',
        f'metadata.labels[{PREFIX}audit]: Invalid value: "y": must be one of privileged, baseline, restricted',
        f'metadata.labels[{PREFIX}warn]: Invalid value: "z": must be one of privileged, baseline, restricted',
    ]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("latest", None),
        ("v1.0", 0),
        ("v1.37", 37),
        ("v1.999", 999),
        ("v1.", None),
        ("v1.01", None),
        ("1.2", None),
    ],
)
def test_versions(text: str, number: int | None) -> None:
    assert version_number(text) == number
    assert bool(version_problem(text)) == (text not in ("latest", "v1.0", "v1.37", "v1.999"))


def test_policies_compared() -> None:
    assert Policy().privileged and not DEFAULTS.privileged
    other = Policy(Standard("privileged", 3), Standard("privileged"), Standard("privileged"))
    assert Policy().equivalent(other) and not Policy().equivalent(DEFAULTS)
    assert not level_problem("baseline")


TEXTS = st.one_of(st.sampled_from([*LEVELS, "latest", "v1.5"]), st.text(max_size=5))
LABELS = st.dictionaries(
    st.sampled_from(
        [PREFIX + mode + suffix for mode in ("enforce", "audit", "warn") for suffix in ("", "-version")]
    ),
    TEXTS,
)


@given(labels=LABELS)
def test_any_labels_give_a_policy(labels: dict[str, str]) -> None:
    errors = Errors()
    policy = policy_of(labels, Policy(), errors)
    for standard in (policy.enforce, policy.audit, policy.warn):
        assert standard.level in LEVELS and (standard.version is None or standard.version >= 0)
    wrong = sum(
        bool(version_problem(value) if key.endswith("-version") else level_problem(value))
        for key, value in labels.items()
    )
    assert len(errors) == wrong
