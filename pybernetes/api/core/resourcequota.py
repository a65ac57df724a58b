"""ResourceQuota: how much a namespace may use in all."""

from __future__ import annotations

from typing import Any

from pybernetes.api import quantity
from pybernetes.api.defaults.resources import default_resource_list
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.status import start_empty
from pybernetes.api.table import AGE, NAME
from pybernetes.api.text import go_format
from pybernetes.api.validation import meta, resources

_POD_RESOURCES = frozenset({
    "pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory",
})  # fmt: skip
_SCOPE_RESOURCES = {
    "Terminating": _POD_RESOURCES,
    "NotTerminating": _POD_RESOURCES,
    "NotBestEffort": _POD_RESOURCES,
    "PriorityClass": _POD_RESOURCES,
    "CrossNamespacePodAffinity": _POD_RESOURCES,
    "BestEffort": frozenset({"pods"}),
    "VolumeAttributesClass": frozenset({"persistentvolumeclaims", "requests.storage"}),
}
_EXISTS_ONLY = ("BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity")
_CONFLICTING = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})
_MUST_EXIST = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)
_SCOPES = Path("spec") / "scopes"
_SELECTOR = Path("spec") / "scopeSelector" / "matchExpressions"
_COMPARED = ("cpu", "memory", "storage", "ephemeral-storage")


def default(obj: Object) -> None:
    """Round quantities up to thousandths."""
    for part, keys in (("spec", ("hard",)), ("status", ("hard", "used"))):
        held = obj.setdefault(part, {})
        for key in keys:
            if key in held:
                default_resource_list(held[key])


def _quantities(values: dict[str, str], path: Path, errors: Errors) -> None:
    for name, value in values.items():
        resources.quota_resource_name(name, path[name], errors)
        resources.quantity_value(name, value, path[name], errors)


def validate(obj: Object, errors: Errors) -> None:
    """Check the limits and the scopes that they hold for."""
    spec = obj.get("spec", {})
    hard = spec.get("hard", {})
    _quantities(hard, Path("spec") / "hard", errors)
    limited = sorted(name for name in hard if resources.is_standard_quota(name))
    scopes = spec.get("scopes", [])
    for scope in scopes:
        if scope not in _SCOPE_RESOURCES:
            errors.invalid(_SCOPES, scopes, "unsupported scope")
        for name in limited:
            if scope in _SCOPE_RESOURCES and name not in _SCOPE_RESOURCES[scope]:
                errors.invalid(_SCOPES, scopes, "unsupported scope applied to resource")
    _conflicts(set(scopes), scopes, _SCOPES, errors)
    if "scopeSelector" in spec:
        _selector(spec, limited, errors)


def _conflicts(scopes: set[str], shown: list[str], path: Path, errors: Errors) -> None:
    for pair in _CONFLICTING:
        if pair <= scopes:
            errors.invalid(path, shown or None, "conflicting scopes")


def _selector(spec: Object, limited: list[str], errors: Errors) -> None:
    expressions = spec["scopeSelector"].get("matchExpressions", ())
    for expression in expressions:
        scope, operator = expression.get("scopeName", ""), expression.get("operator", "")
        values = expression.get("values", [])
        if scope not in _SCOPE_RESOURCES:
            errors.invalid(_SELECTOR / "scopeName", scope, "unsupported scope")
        for name in limited:
            if scope in _SCOPE_RESOURCES and name not in _SCOPE_RESOURCES[scope]:
                errors.invalid(_SELECTOR, _shown(expressions), "unsupported scope applied to resource")
        if scope in _EXISTS_ONLY and operator != "Exists":
            errors.invalid(_SELECTOR / "operator", operator, _MUST_EXIST)
        if operator in ("In", "NotIn"):
            if not values:
                text = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
                errors.required(_SELECTOR / "values", text)
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                text = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
                errors.invalid(_SELECTOR / "values", values, text)
        else:
            errors.invalid(_SELECTOR / "operator", operator, "not a valid selector operator")
    scopes = {expression.get("scopeName", "") for expression in expressions}
    _conflicts(scopes, spec.get("scopes", []), _SELECTOR, errors)


def _shown(expressions: list[Object]) -> go_format.Struct:
    """Return the selector as Go prints it."""
    rows = [
        go_format.Struct(
            ScopeName=expression.get("scopeName", ""),
            Operator=expression.get("operator", ""),
            Values=expression.get("values"),
        )
        for expression in expressions
    ]
    return go_format.Struct(MatchExpressions=rows)


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that the scopes stay."""
    scopes = new.get("spec", {}).get("scopes")
    if set(scopes or ()) != set(old.get("spec", {}).get("scopes", ())):
        errors.invalid(_SCOPES, scopes, meta.IMMUTABLE)


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check what is limited and used."""
    status = new.get("status", {})
    for key in ("hard", "used"):
        _quantities(status.get(key, {}), Path("status") / key, errors)


def warnings(obj: Object, old: Object | None) -> list[str]:
    """Tell when a limit of requests is above the one of limits."""
    if old is not None:
        return []
    hard = obj.get("spec", {}).get("hard", {})
    messages = []
    for name in _COMPARED:
        request, limit = f"requests.{name}", f"limits.{name}"
        if request not in hard and name in ("cpu", "memory"):
            request = name
        if request in hard and limit in hard and quantity.parse(hard[request]) > quantity.parse(hard[limit]):
            messages.append(
                f"ResourceQuota {request} ({hard[request]}) should be less than {limit} ({hard[limit]})"
            )
    return messages


def _used(limits: bool) -> Any:
    def cell(obj: Object, now: float) -> str:
        status = obj.get("status", {})
        hard, used = status.get("hard", {}), status.get("used", {})
        chosen = sorted(name for name in hard if name.startswith("limits.") is limits)
        return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in chosen)

    return cell


RESOURCE = Resource(
    group="",
    version="v1",
    kind="ResourceQuota",
    plural="resourcequotas",
    short_names=("quota",),
    subresources=("status",),
    columns=(NAME, Column("Request", _used(False)), Column("Limit", _used(True)), AGE),
    default=default,
    prepare_create=start_empty,
    validate=validate,
    validate_update=validate_update,
    validate_status_update=validate_status_update,
    warnings=warnings,
)
