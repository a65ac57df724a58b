"""The list of drills, and their report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pybernetes.tools.local import settings as saved_settings
from pybernetes.tools.local.drill import report
from pybernetes.tools.local.drill.drill import Outcome, check, drills
from pybernetes.tools.local.drill.figures import Figures
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import Settings, SettingsError

GOOD = Figures(1.25, 300, 2, 0, 0, 0, 0, 0, 0, {"503": 4})
OUTCOMES = [
    Outcome("kill-it", "it is killed", 1.5, GOOD, {"ready again": 2.0}, {"kill it": 3}),
    Outcome("too-slow", "it takes long", 1.0, GOOD),
    Outcome("lossy", "it forgets", None, Figures(0.1, 300, 0, 1, 0, 0, 0, 1, 0, {})),
    Outcome("broken", "it cannot be done", 1.0, None, {}, {}, "no machine"),
]


def test_names_of_drills() -> None:
    assert list(drills()) == [
        "disturb",
        "kill-api-server",
        "kill-controller-manager",
        "kill-etcd-leader",
        "kill-haproxy",
        "kill-keepalived",
        "kill-scheduler",
        "lose-api-servers",
        "lose-machine",
        "partition-majority",
        "partition-minority",
        "renew-certificates",
        "replace-machine",
        "restart-api-servers",
        "restore-snapshot",
        "upgrade",
    ]


def test_what_is_good_and_what_is_not() -> None:
    assert [outcome.is_good for outcome in OUTCOMES] == [True, False, False, False]


def test_the_report_as_text() -> None:
    text = report.as_text(OUTCOMES)
    first, *_ = text.splitlines()
    assert first.split("  ")[0] == "DRILL" and "LONGEST GAP" in first
    assert "kill-it   1.25 s       1.5 s  300" in text
    assert (
        "kill-it: good: it is killed\n  ready again after 2.00 s\n  done: kill it 3 times\n  errors: 503 4 times"
        in text
    )
    assert "broken: NOT GOOD: it cannot be done\n  problem: no machine" in text


def test_the_report_as_json() -> None:
    value = json.loads(report.as_json(OUTCOMES))
    assert value["good"] is False and [entry["good"] for entry in value["drills"]] == [
        True,
        False,
        False,
        False,
    ]
    assert value["drills"][0]["figures"]["acknowledged"] == 300


def test_drills_that_cannot_be_are_refused(tmp_path: Path) -> None:
    cluster = Cluster("x", tmp_path)
    cluster.create()
    saved_settings.save(cluster, Settings(control_planes=1))
    with pytest.raises(SettingsError, match="three control planes"):
        check(cluster, [])
    saved_settings.save(cluster, Settings(control_planes=3))
    with pytest.raises(SettingsError, match="there is no drill 'x'"):
        check(cluster, ["x"])
    assert check(cluster, ["kill-haproxy"]) == ["kill-haproxy"] and check(cluster, []) == list(drills())
