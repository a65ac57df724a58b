"""What a failed pod means."""

from __future__ import annotations

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers.job import policies
from tests.control_plane.controllers.job.jobs import DISRUPTED, POLICY, job, run


@pytest.mark.parametrize(
    ("failed", "action", "counts", "message"),
    [
        (run("a", "Failed", exit_code=42), "FailJob", True,
         "Container main for pod default/a failed with exit code 42 matching FailJob rule at index 0"),
        (run("a", "Failed", **DISRUPTED), "Ignore", False, ""),
        (run("a", "Failed", exit_code=7), "FailIndex", True, ""),
        (run("a", "Failed", exit_code=3), "Count", True, ""),
        (run("a", "Failed", exit_code=1), "", True, ""),
    ],
)  # fmt: skip
def test_failure_policy(failed: Object, action: str, counts: bool, message: str) -> None:
    assert policies.verdict(job(podFailurePolicy=POLICY), failed) == (action, counts, message)
