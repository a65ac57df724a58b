"""ReplicaSet: a number of equal pods."""

from __future__ import annotations

from pybernetes.api.apps import _workload
from pybernetes.api.apps._workload import SPEC, STATUS, TEMPLATE
from pybernetes.api.core.pod.defaults import default_pod_template
from pybernetes.api.field import Errors
from pybernetes.api.resource import Object, Resource, Scale
from pybernetes.api.table import AGE, NAME
from pybernetes.api.validation import numbers

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


def prepare_create(obj: Object) -> None:
    """Start without pods."""
    obj["status"] = {"replicas": 0}


def validate(obj: Object, errors: Errors) -> None:
    """Check the counts, the selector and the template."""
    spec = obj.get("spec", {})
    numbers.nonnegative_fields(spec, ("replicas", "minReadySeconds"), SPEC, errors)
    selector, template = spec.get("selector"), spec.get("template", {})
    if selector is None:
        errors.required(SPEC / "selector")
    # Upstream's message names the deployment here, too.
    if _workload.check_selector(selector, "deployment", errors):
        _workload.check_match(selector, template, TEMPLATE, errors)
        _workload.check_template(template, "ReplicaSet", errors)
    else:
        errors.invalid(SPEC / "selector", _workload.ordered(selector), "invalid label selector")


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that the selector stays."""
    _workload.check_immutable_selector(new, old, errors)


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that the counts fit together."""
    status = new.get("status", {})
    numbers.nonnegative_fields(status, _COUNTS, STATUS, errors)
    _workload.check_at_most(status, ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"), errors)


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
        NAME,
        _workload.number("Desired", ".spec.replicas"),
        _workload.number("Current", ".status.replicas"),
        _workload.number("Ready", ".status.readyReplicas"),
        AGE,
        *_workload.template_columns(),
        _workload.selector_column(),
    ),
    default=default,
    prepare_create=prepare_create,
    validate=validate,
    validate_update=validate_update,
    validate_status_update=validate_status_update,
    warnings=_workload.warnings,
)
