"""HorizontalPodAutoscaler: how many replicas something has, by what is measured."""

from __future__ import annotations

from pybernetes.api.autoscaling import _columns, _metrics
from pybernetes.api.autoscaling._conversion import drop_annotations
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object, Resource
from pybernetes.api.table import get
from pybernetes.api.validation import numbers, resources

_SPEC, _STATUS = Path("spec"), Path("status")
_MAX_PERIOD, _MAX_WINDOW = 1800, 3600
_SELECT_POLICIES = ("Disabled", "Max", "Min")
_POLICY_TYPES = ("Percent", "Pods")
DEFAULT_CPU_PERCENT = 80


def default(obj: Object) -> None:
    """Ask for at least one replica and four fifths of the requested CPU; complete the behaviour if there is any."""
    drop_annotations(obj["metadata"])
    spec = obj.setdefault("spec", {})
    default_bounds(spec)
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": DEFAULT_CPU_PERCENT}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    if "behavior" in spec:
        up = spec["behavior"].setdefault("scaleUp", {})
        up.setdefault("stabilizationWindowSeconds", 0)
        _default_rules(up, [{"type": "Pods", "value": 4, "periodSeconds": 15}])
        _default_rules(spec["behavior"].setdefault("scaleDown", {}), [])
    obj.setdefault("status", {}).setdefault("desiredReplicas", 0)


def default_bounds(spec: Object) -> None:
    """Complete what both versions have."""
    target = spec.setdefault("scaleTargetRef", {})
    target.setdefault("kind", "")
    target.setdefault("name", "")
    spec.setdefault("minReplicas", 1)
    spec.setdefault("maxReplicas", 0)


def _default_rules(rules: Object, policies: list[Object]) -> None:
    rules.setdefault("selectPolicy", "Max")
    if "policies" not in rules:
        rules["policies"] = [*policies, {"type": "Percent", "value": 100, "periodSeconds": 15}]


def prepare_create(obj: Object) -> None:
    """Start without measurements."""
    obj["status"] = {"desiredReplicas": 0}


def validate(obj: Object, errors: Errors) -> None:
    """Check the bounds, the target, the metrics and the behaviour."""
    spec = obj.get("spec", {})
    low, high = spec.get("minReplicas"), spec.get("maxReplicas", 0)
    if low is not None and high < low:
        errors.invalid(_SPEC / "maxReplicas", high, "must be greater than or equal to `minReplicas`")
    ref = spec.get("scaleTargetRef", {})
    need_group = ref.get("kind") != "ReplicationController"
    _metrics.reference(ref, _SPEC / "scaleTargetRef", errors, need_group)
    _metrics.validate(spec.get("metrics", []), low, _SPEC / "metrics", errors)
    for key in ("scaleUp", "scaleDown"):
        if key in spec.get("behavior", {}):
            _rules(spec["behavior"][key], _SPEC / "behavior" / key, errors)
    numbers.nonnegative(low or 0, _SPEC / "minReplicas", errors)
    if not high:
        errors.required(_SPEC / "maxReplicas")
    elif high < 1:
        errors.invalid(_SPEC / "maxReplicas", high, "must be greater than or equal to 1")


def _rules(rules: Object, path: Path, errors: Errors) -> None:
    window = rules.get("stabilizationWindowSeconds", 0)
    if window < 0:
        errors.invalid(path / "stabilizationWindowSeconds", window, "must be greater than or equal to zero")
    if window > _MAX_WINDOW:
        errors.invalid(
            path / "stabilizationWindowSeconds", window, f"must be less than or equal to {_MAX_WINDOW}"
        )
    select = rules.get("selectPolicy")
    if select is not None and select not in _SELECT_POLICIES:
        errors.unsupported(path / "selectPolicy", select, _SELECT_POLICIES)
    policies = rules.get("policies", [])
    if not policies:
        errors.required(path / "policies", "must specify at least one Policy")
    for index, policy in enumerate(policies):
        _policy(policy, (path / "policies")[index], errors)
    if "tolerance" in rules:
        resources.nonnegative_quantity(rules["tolerance"], path / "tolerance", errors)


def _policy(policy: Object, path: Path, errors: Errors) -> None:
    kind, value, period = policy.get("type", ""), policy.get("value", 0), policy.get("periodSeconds", 0)
    if kind not in _POLICY_TYPES:
        errors.unsupported(path / "type", kind, _POLICY_TYPES)
    if value <= 0:
        errors.invalid(path / "value", value, "must be greater than zero")
    if period <= 0:
        errors.invalid(path / "periodSeconds", period, "must be greater than zero")
    if period > _MAX_PERIOD:
        errors.invalid(path / "periodSeconds", period, f"must be less than or equal to {_MAX_PERIOD}")


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check the numbers."""
    for index, condition in enumerate(get(new, ".status.conditions", ())):
        generation = condition.get("observedGeneration", 0)
        numbers.nonnegative(generation, (_STATUS / "conditions")[index] / "observedGeneration", errors)
    counts = ("currentReplicas", "desiredReplicas")
    numbers.nonnegative_fields(new.get("status", {}), counts, _STATUS, errors)


RESOURCE = Resource(
    group="autoscaling",
    version="v2",
    kind="HorizontalPodAutoscaler",
    plural="horizontalpodautoscalers",
    short_names=("hpa",),
    categories=("all",),
    subresources=("status",),
    generation=True,
    columns=_columns.COLUMNS,
    default=default,
    prepare_create=prepare_create,
    validate=validate,
    validate_status_update=validate_status_update,
)
