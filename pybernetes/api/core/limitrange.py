"""LimitRange: the least, the most and the usual of what pods, containers and claims may ask for."""

from __future__ import annotations

from uuid import uuid4

from pybernetes.api import quantity
from pybernetes.api.defaults.resources import default_resource_list
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object, Resource
from pybernetes.api.validation import names, resources

_LISTS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_TYPES = ("Pod", "Container", "PersistentVolumeClaim")
_MILLI_LIMIT = (2**63 - 1) // 1000


def default(obj: Object) -> None:
    """Default limits to the maximum, and requests to the limit or the minimum, for containers."""
    spec = obj.setdefault("spec", {})
    for item in spec.get("limits", ()):
        if item.get("type") == "Container":
            limits = item.get("max", {}) | item.get("default", {})
            requests = item.get("min", {}) | limits | item.get("defaultRequest", {})
            for key, filled in (("default", limits), ("defaultRequest", requests)):
                if filled:
                    item[key] = filled
        for key in _LISTS:
            if key in item:
                default_resource_list(item[key])


def prepare_create(obj: Object) -> None:
    """Give a limit range without a name one."""
    meta = obj["metadata"]
    if not meta.get("name") and not meta.get("generateName"):
        meta["name"] = str(uuid4())


def validate(obj: Object, errors: Errors) -> None:
    """Check every item, and that the types differ."""
    seen = set()
    for index, item in enumerate(obj.get("spec", {}).get("limits", ())):
        path = (Path("spec") / "limits")[index]
        type_ = item.get("type", "")
        problems = names.qualified_name(type_)
        if not problems and "/" not in type_ and type_ not in _TYPES:
            problems = ["must be a standard limit type or fully qualified"]
        for problem in problems:
            errors.invalid(path / "type", type_, problem)
        if type_ in seen:
            errors.duplicate(path / "type", type_)
        seen.add(type_)
        _item(item, type_, path, errors)


def _item(item: Object, type_: str, path: Path, errors: Errors) -> None:
    check = resources.container_resource_name if type_ in ("Pod", "Container") else resources.resource_name
    checked = list(_LISTS)
    if type_ == "Pod":
        for key in ("default", "defaultRequest"):
            checked.remove(key)
            if item.get(key):
                errors.forbidden(path / key, "may not be specified when `type` is 'Pod'")
    if type_ == "PersistentVolumeClaim" and not any("storage" in item.get(key, ()) for key in ("min", "max")):
        text = "either minimum or maximum storage value is required, but neither was provided"
        errors.required(path / "limits", text)
    values_by_name: dict[str, dict[str, str]] = {}
    for key in checked:
        for name, value in item.get(key, {}).items():
            check(name, (path / key)[name], errors)
            values_by_name.setdefault(name, {})[key] = value
    for name, values in values_by_name.items():
        _order(name, values, path, errors)


# Pairs that must be in order: the smaller, the greater, the field and the value of the error, and its text.
_ORDER = (
    ("min", "max", "min", "min", "min value {} is greater than max value {}"),
    ("min", "defaultRequest", "defaultRequest", "defaultRequest",
     "min value {} is greater than default request value {}"),
    ("defaultRequest", "max", "defaultRequest", "defaultRequest",
     "default request value {} is greater than max value {}"),
    ("defaultRequest", "default", "defaultRequest", "defaultRequest",
     "default request value {} is greater than default limit value {}"),
    ("min", "default", "default", "min", "min value {} is greater than default value {}"),
    ("default", "max", "default", "max", "default value {} is greater than max value {}"),
)  # fmt: skip


def _order(name: str, values: dict[str, str], path: Path, errors: Errors) -> None:
    for small, great, where, shown, words in _ORDER:
        if (
            small in values
            and great in values
            and quantity.parse(values[small]) > quantity.parse(values[great])
        ):
            errors.invalid((path / where)[name], values[shown], words.format(values[small], values[great]))
    if "maxLimitRequestRatio" in values:
        _ratio(name, values, path, errors)
    if not resources.is_overcommit_allowed(name) and "default" in values and "defaultRequest" in values:
        limit, request = values["default"], values["defaultRequest"]
        if quantity.parse(limit) != quantity.parse(request):
            text = f"default value {limit} must equal to defaultRequest value {request} in {name}"
            errors.invalid((path / "defaultRequest")[name], request, text)


def _ratio(name: str, values: dict[str, str], path: Path, errors: Errors) -> None:
    text = values["maxLimitRequestRatio"]
    where = (path / "maxLimitRequestRatio")[name]
    if quantity.parse(text) < 1:
        errors.invalid(where, text, f"ratio {text} is less than 1")
    if "min" not in values or "max" not in values:
        return
    ratio, low, high = (quantity.integer(values[key]) for key in ("maxLimitRequestRatio", "min", "max"))
    actual = float(ratio)
    if max(ratio, low, high) < _MILLI_LIMIT:
        actual = quantity.milli(text) / 1000
        low, high = quantity.milli(values["min"]), quantity.milli(values["max"])
    allowed = high / low if low else float("inf")
    if actual > allowed:
        errors.invalid(where, text, f"ratio {text} is greater than max/min = {allowed:f}")


RESOURCE = Resource(
    group="",
    version="v1",
    kind="LimitRange",
    plural="limitranges",
    short_names=("limits",),
    create_on_update=True,
    default=default,
    prepare_create=prepare_create,
    validate=validate,
)
