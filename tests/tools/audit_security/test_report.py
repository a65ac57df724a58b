"""Every recommendation is met by a good cluster, and found out in a bad one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pybernetes.tools.audit_security import report
from pybernetes.tools.audit_security.check import Check, State, nobody
from pybernetes.tools.audit_security.cluster_inputs import ClusterInputs
from tests.tools.audit_security import clusters

# What cannot be read from any cluster, or what means nothing here.
UNTOLD = {"1.2.28", "3.1.1", "3.2.2", "5.2.11", "5.3.1", "5.4.2", "5.6.1"}
ALWAYS = {"1.2.22", "1.2.24", "1.2.25", "1.3.1"}  # TLS and keys of its own are not a matter of flags
LOCAL = {"4.1.1", "4.1.2", "4.2.7", "4.2.15", "4.3.1"}
COUNTS = {"1.1": 21, "1.2": 30, "1.3": 7, "1.4": 2, "2": 7, "3.1": 3, "3.2": 2, "4.1": 10, "4.2": 15, "4.3": 1,
          "5.1": 13, "5.2": 13, "5.3": 2, "5.4": 2, "5.5": 1, "5.6": 4, "6": 3}  # fmt: skip


@pytest.mark.parametrize("check", report.checks(), ids=lambda check: check.number)
def test_a_good_cluster_passes_and_a_bad_one_does_not(check: Check) -> None:
    good, bad = check.examine(clusters.good()), check.examine(clusters.bad())
    if check.number in UNTOLD:
        assert good.state in (State.MANUAL, State.NONE) and good.text
    elif check.number in LOCAL:
        assert good.state is State.NONE
        assert check.examine(ClusterInputs()).state is State.MANUAL
    else:
        assert good.state is State.PASS, good
        assert check.number in ALWAYS or (bad.state in (State.FAIL, State.WARN) and bad.text), bad


def test_no_recommendation_is_left_out() -> None:
    numbers = [check.number for check in report.checks()]
    for section, count in COUNTS.items():
        assert [number for number in numbers if number.startswith(section + ".")] == [
            f"{section}.{index}" for index in range(1, count + 1)
        ]
    assert len(numbers) == sum(COUNTS.values())


def test_nothing_is_claimed_of_what_was_not_seen() -> None:
    for check in report.checks():
        if check.number.startswith(("1.", "2.", "4.", "6.")):
            assert check.examine(ClusterInputs()).state in (State.MANUAL, State.NONE), check.number


def test_the_page_shows_every_recommendation() -> None:
    page = (Path(__file__).parents[3] / "docs" / "security-cis.md").read_text()
    for check in report.checks():
        assert f"| {check.number} | {check.title} |" in page


def test_the_forms_of_a_report() -> None:
    verdicts = report.judge(clusters.bad())
    text = report.as_text(verdicts)
    assert "FAIL   1.2.6   authorization mode AlwaysAllow is not used: everybody may do everything" in text
    assert text.splitlines()[-1].endswith("n/a")
    rows = json.loads(report.as_json(verdicts))["checks"]
    assert rows[0]["number"] == "1.1.1" and rows[0]["state"] == "fail"


def test_names_command_no_terminal() -> None:
    finding = nobody(["plain", "\x1b[2Jgone"], "roles")
    assert finding.text == "roles: \\x1b[2Jgone, plain"
