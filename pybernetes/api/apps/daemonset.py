"""DaemonSet: one pod on each node."""

from __future__ import annotations

from pybernetes.api import workload
from pybernetes.api.core.pod.defaults import default_pod_template
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import AGE, NAME, format_labels, get
from pybernetes.api.text import go_format
from pybernetes.api.validation import numbers
from pybernetes.api.workload import SPEC, STATUS, TEMPLATE
from pybernetes.lib.unsigned import unsigned

# How often the template changed; a field in versions before v1.
_TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
_ALWAYS_WRITTEN = ("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady")
_COUNTS = (
    *_ALWAYS_WRITTEN, "observedGeneration", "updatedNumberScheduled", "numberAvailable", "numberUnavailable",
    "collisionCount",
)  # fmt: skip


def default(obj: Object) -> None:
    """Replace pods one at a time, unless told otherwise."""
    spec = obj.setdefault("spec", {})
    strategy = spec.setdefault("updateStrategy", {})
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        strategy.setdefault("rollingUpdate", {}).setdefault("maxUnavailable", 1)
    if "rollingUpdate" in strategy:
        strategy["rollingUpdate"].setdefault("maxUnavailable", 0)
        strategy["rollingUpdate"].setdefault("maxSurge", 0)
    spec.setdefault("revisionHistoryLimit", 10)
    default_pod_template(spec.setdefault("template", {}))
    # Upstream adds it whenever it turns its own form into v1, so that whoever writes the object owns it.
    obj["metadata"].setdefault("annotations", {}).setdefault(_TEMPLATE_GENERATION, "0")
    status = obj.setdefault("status", {})
    for key in _ALWAYS_WRITTEN:
        status.setdefault(key, 0)


def _template_generation(obj: Object) -> int:
    text = obj["metadata"].get("annotations", {}).get(_TEMPLATE_GENERATION, "")
    return unsigned(text) or 0


def _set_template_generation(obj: Object, generation: int) -> None:
    obj["metadata"].setdefault("annotations", {})[_TEMPLATE_GENERATION] = str(generation)


def prepare_create(obj: Object) -> None:
    """Start without pods."""
    obj["status"] = dict.fromkeys(_ALWAYS_WRITTEN, 0)
    _set_template_generation(obj, max(1, _template_generation(obj)))


def prepare_update(new: Object, old: Object) -> None:
    """Count changes of the template."""
    changed = get(new, ".spec.template") != get(old, ".spec.template")
    _set_template_generation(new, _template_generation(old) + changed)


def validate(obj: Object, errors: Errors) -> None:
    """Check the selector, the template and the strategy."""
    spec = obj.get("spec", {})
    selector, template = spec.get("selector"), spec.get("template", {})
    if workload.check_selector(selector, "daemonset", errors):
        workload.check_match(selector, template, TEMPLATE, errors)
    workload.check_template(template, "DaemonSet", errors)
    numbers.nonnegative_fields(spec, ("minReadySeconds",), SPEC, errors)
    _strategy(spec.get("updateStrategy", {}), SPEC / "updateStrategy", errors)
    numbers.nonnegative_fields(spec, ("revisionHistoryLimit",), SPEC, errors)


def _strategy(strategy: Object, path: Path, errors: Errors) -> None:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if kind == "RollingUpdate":
        if rolling is None:
            errors.required(path / "rollingUpdate")
        else:
            _rolling(rolling, path / "rollingUpdate", errors)
    elif kind != "OnDelete":
        value = None
        if rolling is not None:
            counts = (rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0))
            value = go_format.Struct(zip(("MaxUnavailable", "MaxSurge"), counts, strict=True))
        errors.unsupported(
            path, go_format.Struct(Type=kind, RollingUpdate=value), ("RollingUpdate", "OnDelete")
        )


def _rolling(rolling: Object, path: Path, errors: Errors) -> None:
    unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
    for check in (numbers.int_or_percent, numbers.at_most_100_percent):
        check(unavailable, path / "maxUnavailable", errors)
        check(surge, path / "maxSurge", errors)
    some, extra = numbers.int_or_percent_value(unavailable), numbers.int_or_percent_value(surge)
    if some and extra:
        errors.invalid(path / "maxSurge", surge, "may not be set when maxUnavailable is non-zero")
    elif not some and not extra:
        errors.required(path / "maxUnavailable", "cannot be 0 when maxSurge is 0")


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that the selector stays."""
    workload.check_immutable_selector(new, old, errors)


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check the counts."""
    numbers.nonnegative_fields(new.get("status", {}), _COUNTS, STATUS, errors)
    workload.check_collisions(new, old, errors)


def warnings(new: Object, old: Object | None) -> list[str]:
    """Warn about pods whose template is new or changed."""
    same = old is not None and get(old, ".spec.template") == get(new, ".spec.template")
    return [] if same else workload.template_warnings(new, old)


RESOURCE = Resource(
    group="apps",
    version="v1",
    kind="DaemonSet",
    plural="daemonsets",
    short_names=("ds",),
    categories=("all",),
    subresources=("status",),
    generation=True,
    columns=(
        NAME,
        workload.number("Desired", ".status.desiredNumberScheduled"),
        workload.number("Current", ".status.currentNumberScheduled"),
        workload.number("Ready", ".status.numberReady"),
        workload.number("Up-to-date", ".status.updatedNumberScheduled"),
        workload.number("Available", ".status.numberAvailable"),
        Column("Node Selector", lambda obj, now: format_labels(get(obj, ".spec.template.spec.nodeSelector"))),
        AGE,
        *workload.template_columns(),
        workload.selector_column(),
    ),
    default=default,
    prepare_create=prepare_create,
    prepare_update=prepare_update,
    warnings=warnings,
    validate=validate,
    validate_update=validate_update,
    validate_status_update=validate_status_update,
)
