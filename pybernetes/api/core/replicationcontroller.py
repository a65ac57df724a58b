"""ReplicationController: the predecessor of ReplicaSet."""

from __future__ import annotations

from pybernetes.api import workload
from pybernetes.api.core.pod.defaults import default_pod_template
from pybernetes.api.field import Errors
from pybernetes.api.resource import Column, Object, Resource, Scale
from pybernetes.api.table import format_labels
from pybernetes.api.validation import numbers
from pybernetes.api.workload import SPEC, TEMPLATE

_COUNTS = ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration")


def default(obj: Object) -> None:
    """Ask for one replica; the labels of the template serve as selector and as the controller's own."""
    spec = obj.setdefault("spec", {})
    if "template" in spec:
        default_pod_template(spec["template"])
        labels = spec["template"].get("metadata", {}).get("labels")
        if labels:
            if not spec.get("selector"):
                spec["selector"] = dict(labels)
            if not obj["metadata"].get("labels"):
                obj["metadata"]["labels"] = dict(labels)
    spec.setdefault("replicas", 1)
    obj.setdefault("status", {}).setdefault("replicas", 0)


def validate(obj: Object, errors: Errors) -> None:
    """Check the counts, the selector and the template that it must fit."""
    spec = obj.get("spec", {})
    selector, template = spec.get("selector", {}), spec.get("template")
    numbers.nonnegative(spec.get("minReadySeconds", 0), SPEC / "minReadySeconds", errors)
    if not selector:
        errors.required(SPEC / "selector")
    if "replicas" not in spec:
        errors.required(SPEC / "replicas")
    else:
        numbers.nonnegative(spec["replicas"], SPEC / "replicas", errors)
    if template is None:
        errors.required(TEMPLATE)
        return
    labels = template.get("metadata", {}).get("labels", {})
    if any(labels.get(key) != value for key, value in selector.items()):
        text = "`selector` does not match template `labels`"
        errors.invalid(TEMPLATE / "metadata" / "labels", labels or None, text)
    workload.check_template(template, "ReplicationController", errors)


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that the counts fit together."""
    workload.check_replica_counts(new.get("status", {}), _COUNTS, errors)


RESOURCE = Resource(
    group="",
    version="v1",
    kind="ReplicationController",
    plural="replicationcontrollers",
    short_names=("rc",),
    categories=("all",),
    subresources=("scale", "status"),
    scale=Scale(selector=".spec.selector"),
    storage_path="controllers",
    generation=True,
    propagation="Orphan",
    columns=(
        *workload.REPLICA_COLUMNS,
        Column("Selector", lambda obj, now: format_labels(obj.get("spec", {}).get("selector")), priority=1),
    ),
    selectable={"status.replicas": lambda obj: str(obj.get("status", {}).get("replicas", 0))},
    default=default,
    prepare_create=workload.start_without_pods,
    validate=validate,
    validate_status_update=validate_status_update,
    warnings=workload.warnings,
)
