"""Checks of the policy that says what the failure of a pod means for its job."""

from __future__ import annotations

from pybernetes.api.field import OMIT, Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.api.validation import checks, names

_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUSES = ("False", "True", "Unknown")
_MAX_RULES, _MAX_CODES, _MAX_PATTERNS = 20, 255, 20


def _choice(values: tuple[str, ...]) -> str:
    return "valid values: [" + " ".join(f'"{value}"' for value in values) + "]"


def validate(spec: Object, path: Path, errors: Errors) -> None:
    """Check the policy of a job's spec."""
    rules = spec["podFailurePolicy"].get("rules", [])
    if len(rules) > _MAX_RULES:
        errors.too_many(path / "rules", len(rules), _MAX_RULES)
    pod = spec.get("template", {}).get("spec", {})
    containers = {
        item.get("name", "") for key in ("containers", "initContainers") for item in pod.get(key, ())
    }
    for index, rule in enumerate(rules):
        _rule(spec, rule, containers, (path / "rules")[index], errors)


def shown(policy: Object | None) -> go_format.Struct | None:
    """Return the policy as messages show it."""
    if policy is None:
        return None
    return go_format.Struct(Rules=[_shown_rule(rule) for rule in policy.get("rules", ())] or None)


def _shown_rule(rule: Object) -> go_format.Struct:
    codes, patterns = rule.get("onExitCodes"), rule.get("onPodConditions")
    result = go_format.Struct(Action=rule.get("action", ""), OnExitCodes=None, OnPodConditions=None)
    if codes is not None:
        operator, name = codes.get("operator", ""), codes.get("containerName")
        result["OnExitCodes"] = go_format.Struct(
            ContainerName=name, Operator=operator, Values=codes.get("values") or None
        )
    if patterns:
        result["OnPodConditions"] = [
            go_format.Struct(Type=pattern.get("type", ""), Status=pattern.get("status", ""))
            for pattern in patterns
        ]
    return result


def _rule(spec: Object, rule: Object, containers: set[str], path: Path, errors: Errors) -> None:
    action, codes, patterns = rule.get("action", ""), rule.get("onExitCodes"), rule.get("onPodConditions")
    if not action:
        errors.required(path / "action", _choice(_ACTIONS))
    elif action == "FailIndex" and "backoffLimitPerIndex" not in spec:
        errors.invalid(path / "action", action, "requires the backoffLimitPerIndex to be set")
    elif action not in _ACTIONS:
        errors.unsupported(path / "action", action, _ACTIONS)
    if codes is not None:
        _exit_codes(codes, containers, path / "onExitCodes", errors)
    if patterns:
        _conditions(patterns, path / "onPodConditions", errors)
    if codes is not None and patterns:
        errors.invalid(path, OMIT, "specifying both OnExitCodes and OnPodConditions is not supported")
    if codes is None and not patterns:
        errors.invalid(path, OMIT, "specifying one of OnExitCodes and OnPodConditions is required")


def _conditions(patterns: list[Object], path: Path, errors: Errors) -> None:
    if len(patterns) > _MAX_PATTERNS:
        errors.too_many(path, len(patterns), _MAX_PATTERNS)
    for index, pattern in enumerate(patterns):
        kind, status = pattern.get("type", ""), pattern.get("status", "")
        checks.name(names.qualified_name, kind, path[index] / "type", errors)
        if not status:
            errors.required(path[index] / "status", _choice(_STATUSES))
        elif status not in _STATUSES:
            errors.unsupported(path[index] / "status", status, _STATUSES)


def _exit_codes(codes: Object, containers: set[str], path: Path, errors: Errors) -> None:
    operator, values = codes.get("operator", ""), codes.get("values", [])
    if not operator:
        errors.required(path / "operator", _choice(_OPERATORS))
    elif operator not in _OPERATORS:
        errors.unsupported(path / "operator", operator, _OPERATORS)
    name = codes.get("containerName")
    if name is not None and name not in containers:
        text = "must be one of the container or initContainer names in the pod template"
        errors.invalid(path / "containerName", name, text)
    here = path / "values"
    if not values:
        errors.invalid(here, values or None, "at least one value is required")
    elif len(values) > _MAX_CODES:
        errors.too_many(here, len(values), _MAX_CODES)
    seen: set[int] = set()
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            errors.invalid(here[index], value, "must not be 0 for the In operator")
        if value in seen:
            errors.duplicate(here[index], value)
        seen.add(value)
    if values != sorted(values):
        errors.invalid(here, values, "must be ordered")
