"""The pods of a job."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._workload.templates import pod_from
from pybernetes.control_plane.controllers.job.policies import FINALIZER, failure_annotations, is_per_index

INDEX = "batch.kubernetes.io/job-completion-index"
_VARIABLE = {
    "name": "JOB_COMPLETION_INDEX",
    "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{INDEX}']"}},
}
_LONGEST_PREFIX = 58


def new_pod(job: Object, reference: Object) -> Object:
    """Return a new pod of a job without indexes."""
    pod = pod_from(job["spec"]["template"], job, reference)
    finalizers = pod["metadata"].get("finalizers") or []
    if FINALIZER not in finalizers:
        finalizers = [*finalizers, FINALIZER]
    return {**pod, "metadata": {**pod["metadata"], "finalizers": finalizers}}


def indexed(job: Object, pod: Object, index: int, replaced: Object | None) -> Object:
    """Return the pod for an index, the successor of one that failed or the first."""
    name = job["metadata"]["name"]
    end = f"-{index}-"
    meta, spec = pod["metadata"], pod["spec"]
    annotations = {**(meta.get("annotations") or {}), INDEX: str(index)}
    if is_per_index(job):
        annotations |= failure_annotations(job, replaced)
    containers = {
        key: [_with_variable(container) for container in spec[key]]
        for key in ("initContainers", "containers")
        if spec.get(key)
    }
    return {
        "metadata": {
            **meta,
            "generateName": name[: _LONGEST_PREFIX - len(end)] + end,
            "annotations": annotations,
            "labels": {**(meta.get("labels") or {}), INDEX: str(index)},
        },
        "spec": {**spec, **containers, "hostname": f"{name}-{index}"},
    }


def _with_variable(container: Object) -> Object:
    variables = container.get("env") or []
    if any(variable["name"] == _VARIABLE["name"] for variable in variables):
        return container
    return {**container, "env": [*variables, _VARIABLE]}
