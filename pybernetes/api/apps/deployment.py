"""Deployment: pods that are replaced step by step when their template changes."""

from __future__ import annotations

from pybernetes.api import selectors, workload
from pybernetes.api.core.pod.defaults import default_pod_template
from pybernetes.api.field import Errors, Path
from pybernetes.api.metadata import keep
from pybernetes.api.resource import Column, Object, Resource, Scale
from pybernetes.api.status import start_empty
from pybernetes.api.table import AGE, NAME, get
from pybernetes.api.text import go_format
from pybernetes.api.validation import numbers
from pybernetes.api.workload import SPEC, STATUS

_COUNTS = (
    "observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
    "unavailableReplicas", "terminatingReplicas", "collisionCount",
)  # fmt: skip


def default(obj: Object) -> None:
    """Ask for one replica, and replace a quarter at a time, unless told otherwise."""
    spec = obj.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    strategy = spec.setdefault("strategy", {})
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", "25%")
        rolling.setdefault("maxSurge", "25%")
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("progressDeadlineSeconds", 600)
    default_pod_template(spec.setdefault("template", {}))
    obj.setdefault("status", {})


def prepare_update(new: Object, old: Object) -> None:
    """Count changes of annotations too, since they reach the replica sets."""
    if new["metadata"].get("annotations", {}) != old["metadata"].get("annotations", {}):
        new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


def prepare_status_update(new: Object, old: Object) -> None:
    """Keep the labels, which are not the controller's to change."""
    keep(new["metadata"], old["metadata"], "labels")


def validate(obj: Object, errors: Errors) -> None:
    """Check the counts, the selector, the template and the strategy."""
    spec = obj.get("spec", {})
    numbers.nonnegative(spec.get("replicas", 0), SPEC / "replicas", errors)
    workload.check_replicated(spec, errors)
    _strategy(spec.get("strategy", {}), SPEC / "strategy", errors)
    numbers.nonnegative_fields(spec, ("minReadySeconds", "revisionHistoryLimit"), SPEC, errors)
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None:
        numbers.nonnegative(deadline, SPEC / "progressDeadlineSeconds", errors)
        if deadline <= spec.get("minReadySeconds", 0):
            errors.invalid(SPEC / "progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")


def _strategy(strategy: Object, path: Path, errors: Errors) -> None:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            errors.forbidden(
                path / "rollingUpdate", "may not be specified when strategy `type` is 'Recreate'"
            )
    elif kind != "RollingUpdate":
        value = None if rolling is None else _go_rolling(rolling)
        errors.unsupported(
            path, go_format.Struct(Type=kind, RollingUpdate=value), ("Recreate", "RollingUpdate")
        )
    elif rolling is not None:
        unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
        here = path / "rollingUpdate"
        numbers.int_or_percent(unavailable, here / "maxUnavailable", errors)
        numbers.int_or_percent(surge, here / "maxSurge", errors)
        if not numbers.int_or_percent_value(unavailable) and not numbers.int_or_percent_value(surge):
            errors.invalid(here / "maxUnavailable", unavailable, "may not be 0 when `maxSurge` is 0")
        numbers.at_most_100_percent(unavailable, here / "maxUnavailable", errors)


def _go_rolling(rolling: Object) -> go_format.Struct:
    return go_format.Struct(
        MaxUnavailable=rolling.get("maxUnavailable", 0), MaxSurge=rolling.get("maxSurge", 0)
    )


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that the counts fit together."""
    status = new.get("status", {})
    numbers.nonnegative_fields(status, _COUNTS, STATUS, errors)
    workload.check_at_most(status, ("updatedReplicas", "readyReplicas", "availableReplicas"), errors)
    workload.check_collisions(new, old, errors)


def _selector(obj: Object, now: float) -> str:
    try:
        return str(selectors.from_object(get(obj, ".spec.selector")))
    except selectors.SelectorError:
        return "<invalid>"


def _ready(obj: Object, now: float) -> str:
    return f"{get(obj, '.status.readyReplicas', 0)}/{get(obj, '.spec.replicas', 0)}"


RESOURCE = Resource(
    group="apps",
    version="v1",
    kind="Deployment",
    plural="deployments",
    short_names=("deploy",),
    categories=("all",),
    subresources=("scale", "status"),
    scale=Scale(selector=".spec.selector"),
    generation=True,
    columns=(
        NAME,
        Column("Ready", _ready),
        Column("Up-to-date", lambda obj, now: get(obj, ".status.updatedReplicas", 0)),
        Column("Available", lambda obj, now: get(obj, ".status.availableReplicas", 0)),
        AGE,
        *workload.template_columns(),
        Column("Selector", _selector, priority=1),
    ),
    default=default,
    prepare_create=start_empty,
    prepare_update=prepare_update,
    prepare_status_update=prepare_status_update,
    validate=validate,
    validate_update=workload.check_immutable_selector,
    validate_status_update=validate_status_update,
    warnings=workload.warnings,
)
