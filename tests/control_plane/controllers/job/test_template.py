"""The pods of a job."""

from __future__ import annotations

from pybernetes.control_plane.controllers.job import template
from pybernetes.control_plane.controllers.job.policies import FINALIZER
from tests.control_plane.controllers.job.jobs import DISRUPTED, INDEX, POLICY, indexed, run


def test_pods_of_indexes() -> None:
    given = indexed(3, 3, backoffLimitPerIndex=2, podFailurePolicy=POLICY)
    given["spec"]["template"]["spec"]["initContainers"] = [
        {"name": "i", "env": [{"name": "JOB_COMPLETION_INDEX"}]}
    ]
    base = template.new_pod(given, {"name": "job"})
    assert base["metadata"]["finalizers"] == [FINALIZER]
    first = template.indexed(given, base, 2, None)
    assert first["metadata"]["annotations"] == {
        INDEX: "2",
        "batch.kubernetes.io/job-index-failure-count": "0",
    }
    assert first["metadata"]["labels"][INDEX] == "2"
    assert (first["metadata"]["generateName"], first["spec"]["hostname"]) == ("job-2-", "job-2")
    (variable,) = first["spec"]["containers"][0]["env"]
    assert variable["valueFrom"]["fieldRef"]["fieldPath"] == f"metadata.labels['{INDEX}']"
    assert first["spec"]["initContainers"][0]["env"] == [{"name": "JOB_COMPLETION_INDEX"}]
    second = template.indexed(
        given, base, 2, run("x", "Failed", 2, annotations=first["metadata"]["annotations"])
    )
    assert second["metadata"]["annotations"]["batch.kubernetes.io/job-index-failure-count"] == "1"
    third = template.indexed(given, base, 2, run("x", "Failed", 2, **DISRUPTED))
    assert third["metadata"]["annotations"]["batch.kubernetes.io/job-index-ignored-failure-count"] == "1"
