"""ReplicaSet: a number of equal pods."""

from __future__ import annotations

from pybernetes.api import workload
from pybernetes.api.core.pod.defaults import default_pod_template
from pybernetes.api.field import Errors
from pybernetes.api.resource import Object, Resource, Scale
from pybernetes.api.validation import numbers
from pybernetes.api.workload import SPEC

_COUNTS = (
    "replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration",
    "terminatingReplicas",
)  # fmt: skip


def default(obj: Object) -> None:
    """Ask for one replica, unless told otherwise."""
    spec = obj.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    default_pod_template(spec.setdefault("template", {}))
    obj.setdefault("status", {}).setdefault("replicas", 0)


def validate(obj: Object, errors: Errors) -> None:
    """Check the counts, the selector and the template."""
    spec = obj.get("spec", {})
    numbers.nonnegative_fields(spec, ("replicas", "minReadySeconds"), SPEC, errors)
    workload.check_replicated(spec, errors)


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that the counts fit together."""
    workload.check_replica_counts(new.get("status", {}), _COUNTS, errors)


RESOURCE = Resource(
    group="apps",
    version="v1",
    kind="ReplicaSet",
    plural="replicasets",
    short_names=("rs",),
    categories=("all",),
    subresources=("scale", "status"),
    scale=Scale(selector=".spec.selector"),
    generation=True,
    columns=(
        *workload.REPLICA_COLUMNS,
        workload.selector_column(),
    ),
    default=default,
    prepare_create=workload.start_without_pods,
    validate=validate,
    validate_update=workload.check_immutable_selector,
    validate_status_update=validate_status_update,
    warnings=workload.warnings,
)
