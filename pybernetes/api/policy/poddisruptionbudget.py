"""PodDisruptionBudget: how many pods of a set may be away at once."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import AGE, NAME, get
from pybernetes.api.text import go_format
from pybernetes.api.validation import numbers
from pybernetes.api.validation.conditions import validate_conditions
from pybernetes.api.validation.names import path_segment
from pybernetes.api.validation.selectors import validate_label_selector

_SPEC, _STATUS = Path("spec"), Path("status")
_COUNTS = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
_POLICIES = ("AlwaysAllow", "IfHealthyBudget")
# What the eviction API says.
VIOLATION = "Cannot evict pod as it would violate the pod's disruption budget."
SEVERAL_BUDGETS = (
    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
)
# Alone it stands for v1beta1's empty selector, which matched nothing; elsewhere it means nothing.
_BETA_KEY = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"


def default(obj: Object) -> None:
    """Write the numbers of the status even if they are zero."""
    obj.setdefault("spec", {})
    _fill(obj.setdefault("status", {}))


def _fill(status: Object) -> None:
    for key in _COUNTS:
        status.setdefault(key, 0)


def prepare_create(obj: Object) -> None:
    """Start with an empty status."""
    obj["status"] = {}
    _fill(obj["status"])
    _strip(get(obj, ".spec.selector"))


def prepare_update(new: Object, old: Object) -> None:
    """Remove the marker of the beta version from a new selector."""
    if get(new, ".spec.selector") != get(old, ".spec.selector"):
        _strip(get(new, ".spec.selector"))


def _strip(selector: Object | None) -> None:
    expressions = (selector or {}).get("matchExpressions")
    if not selector or not expressions:
        return
    alone = expressions[0] if len(expressions) == 1 and "matchLabels" not in selector else {}
    if alone.get("key") == _BETA_KEY and alone.get("operator") == "Exists":
        return
    kept = [item for item in expressions if item.get("key") != _BETA_KEY]
    if kept:
        selector["matchExpressions"] = kept
    else:
        del selector["matchExpressions"]


def validate(obj: Object, errors: Errors) -> None:
    """Check the counts, of which only one may be given, and the selector."""
    spec = obj.get("spec", {})
    if "minAvailable" in spec and "maxUnavailable" in spec:
        errors.invalid(_SPEC, _go_spec(spec), "minAvailable and maxUnavailable cannot be both set")
    for key in ("minAvailable", "maxUnavailable"):
        if key in spec:
            numbers.int_or_percent(spec[key], _SPEC / key, errors)
            numbers.at_most_100_percent(spec[key], _SPEC / key, errors)
    validate_label_selector(spec.get("selector"), _SPEC / "selector", errors)
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in _POLICIES:
        errors.unsupported(_SPEC / "unhealthyPodEvictionPolicy", policy, _POLICIES)


def _go_spec(spec: Object) -> go_format.Struct:
    """Return the spec with the names that upstream's internal type shows in messages."""
    keys = ("minAvailable", "selector", "maxUnavailable", "unhealthyPodEvictionPolicy")
    return go_format.Struct({key[0].upper() + key[1:]: spec.get(key) for key in keys})


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check the conditions and that the numbers are none below zero."""
    status = new.get("status", {})
    validate_conditions(status.get("conditions", []), _STATUS / "conditions", errors)
    numbers.nonnegative_fields(status, _COUNTS, _STATUS, errors)


def unhealthy_may_go(budget: Object) -> bool:
    """Return whether a pod that is not ready may be evicted without an allowance of its budget."""
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status") or {}
    healthy, desired = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
    return bool(healthy >= desired > 0)


def violation_cause(budget: Object) -> str:
    """Return why a budget allows no eviction now."""
    name, status = budget["metadata"]["name"], budget.get("status") or {}
    condition: Object = next(
        (item for item in status.get("conditions") or () if item.get("type") == "DisruptionAllowed"), {}
    )
    told = condition.get("status") == "False" and condition.get("message", "")
    prefix = not_allowed(name)
    if told and condition.get("reason") == "SyncFailed":
        return f"{prefix} because it failed sync: {told}"
    desired, current = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
    if current <= desired:
        return f"The disruption budget {name} needs {desired} healthy pods and has {current} currently"
    return f"{prefix} ({condition.get('reason')}): {told}" if told else prefix


def not_allowed(name: str) -> str:
    """Return how causes begin that say why a budget allows no eviction."""
    return f"The disruption budget {name} does not allow evicting pods currently"


def _count(key: str) -> Column:
    name = {"minAvailable": "Min Available", "maxUnavailable": "Max Unavailable"}[key]
    return Column(name, lambda obj, now: str(get(obj, f".spec.{key}", "N/A")))


RESOURCE = Resource(
    group="policy",
    version="v1",
    kind="PodDisruptionBudget",
    plural="poddisruptionbudgets",
    short_names=("pdb",),
    subresources=("status",),
    name_errors=path_segment,
    unconditional_update=False,
    generation=True,
    columns=(
        NAME,
        _count("minAvailable"),
        _count("maxUnavailable"),
        Column(
            "Allowed Disruptions", lambda obj, now: get(obj, ".status.disruptionsAllowed", 0), type="integer"
        ),
        AGE,
    ),
    default=default,
    prepare_create=prepare_create,
    prepare_update=prepare_update,
    validate=validate,
    validate_status_update=validate_status_update,
)
