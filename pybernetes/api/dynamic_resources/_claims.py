"""What claims and their templates ask for: requests for devices, constraints between them, configuration."""

from __future__ import annotations

from typing import Any

import orjson

from pybernetes.api.dynamic_resources import _lists, _names
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import names

_MOST = 32  # of requests, constraints, configurations and selectors
_MOST_ALTERNATIVES = 8
_MOST_TOLERATIONS = 16
_LARGEST = 10 * 1024
EFFECTS = ("NoExecute", "NoSchedule", "None")
_MODES = ("All", "ExactCount")
_NO_REQUEST = (
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
)


def default_claim(spec: Object) -> None:
    """Complete how many devices each request is for."""
    for request in spec.get("devices", {}).get("requests", ()):
        for exact in [request.get("exactly"), *request.get("firstAvailable", ())]:
            if exact is None:
                continue
            if not exact.get("allocationMode"):
                exact["allocationMode"] = "ExactCount"
            if exact["allocationMode"] == "ExactCount" and not exact.get("count"):
                exact["count"] = 1
            default_tolerations(exact)


def default_tolerations(holder: Object) -> None:
    """Complete the operators of tolerations."""
    for toleration in holder.get("tolerations", ()):
        if not toleration.get("operator"):
            toleration["operator"] = "Equal"


def drop_disabled(spec: Object) -> None:
    """Drop the fields of features that are off: attributes that are derived from others."""
    for request in spec.get("devices", {}).get("requests", ()):
        for exact in [request.get("exactly", {}), *request.get("firstAvailable", ())]:
            exact.pop("derivedAttributes", None)


def request_names(spec: Object) -> set[str]:
    """Return the names of requests, and of their alternatives after a slash."""
    known_names = set()
    for request in spec.get("devices", {}).get("requests", ()):
        name = request.get("name", "")
        known_names.add(name)
        known_names |= {f"{name}/{child.get('name', '')}" for child in request.get("firstAvailable", ())}
    return known_names


def validate_claim(spec: Object, path: Path, errors: Errors) -> None:
    """Check what is asked for."""
    late = Errors()
    devices, known = spec.get("devices", {}), request_names(spec)
    path = path / "devices"
    requests = devices.get("requests", [])
    _lists.check_unique_items(
        requests,
        _MOST,
        "name",
        lambda item, here: _request(item, here, errors, late),
        path / "requests",
        late,
    )
    _lists.check_items(
        devices.get("constraints", []),
        _MOST,
        lambda item, here: _constraint(item, known, here, errors, late),
        path / "constraints",
        late,
    )
    _lists.check_items(
        devices.get("config", []),
        _MOST,
        lambda item, here: validate_configuration(item, known, here, errors, late),
        path / "config",
        late,
    )
    errors.extend(late)


def _request(request: Object, path: Path, errors: Errors, late: Errors) -> None:
    _names.label(request.get("name", ""), path / "name", errors)
    exactly, alternatives = request.get("exactly"), request.get("firstAvailable", [])
    if exactly is None and not alternatives:
        errors.required(path, "exactly one of `exactly` or `firstAvailable` is required")
    elif exactly is not None and alternatives:
        text = "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set"
        errors.invalid(path, None, text)
    elif exactly is not None:
        _exact(exactly, path / "exactly", errors, late, errors)
    else:
        where = path / "firstAvailable"
        _lists.check_unique_items(
            alternatives,
            _MOST_ALTERNATIVES,
            "name",
            lambda item, here: _alternative(item, here, errors, late),
            where,
            late,
        )


def _alternative(request: Object, path: Path, errors: Errors, late: Errors) -> None:
    _names.label(request.get("name", ""), path / "name", errors)
    _exact(request, path, errors, late, late)


def _exact(request: Object, path: Path, errors: Errors, late: Errors, about_class: Errors) -> None:
    name = request.get("deviceClassName", "")
    if not name:
        about_class.required(path / "deviceClassName")
    for problem in names.dns_subdomain(name) if name else ():
        about_class.invalid(path / "deviceClassName", name, problem)
    validate_selectors(request.get("selectors", []), path / "selectors", errors, late)
    mode, count = request.get("allocationMode", ""), request.get("count", 0)
    if mode == "All":
        if count:
            errors.invalid(path / "count", count, "must not be specified when allocationMode is 'All'")
    elif mode == "ExactCount":
        if count <= 0:
            errors.invalid(path / "count", count, "must be greater than zero")
    else:
        late.unsupported(path / "allocationMode", mode, _MODES)
    validate_tolerations(request.get("tolerations", []), path / "tolerations", errors, late)


def validate_selectors(selectors: list[Object], path: Path, errors: Errors, late: Errors) -> None:
    """Check the expressions that choose devices."""

    def check(selector: Object, here: Path) -> None:
        if "cel" not in selector:
            errors.required(here / "cel")
        else:
            validate_expression(selector["cel"].get("expression", ""), here / "cel" / "expression", errors)

    _lists.check_items(selectors, _MOST, check, path, late)


def validate_expression(expression: str, path: Path, errors: Errors) -> None:
    """Check one CEL expression; every expression of the group is checked here."""
    if len(expression.encode()) > _LARGEST:
        errors.too_long(path, _LARGEST)


def validate_tolerations(tolerations: list[Object], path: Path, errors: Errors, late: Errors) -> None:
    """Check the taints that a request tolerates."""
    if len(tolerations) > _MOST_TOLERATIONS:
        late.too_many(path, len(tolerations), _MOST_TOLERATIONS)
    for index, toleration in enumerate(tolerations):
        here, value = path[index], toleration.get("value", "")
        if toleration.get("key"):
            _names.label_key(toleration["key"], here / "key", late)
        operator, effect = toleration.get("operator", ""), toleration.get("effect", "")
        if operator == "Exists":
            if value:
                errors.invalid(here / "value", value, "must be empty for operator `Exists`")
        elif operator == "Equal":
            _names.label_value(value, here / "value", errors)
        elif operator:
            late.unsupported(here / "operator", operator, ("Equal", "Exists"))
        else:
            late.required(here / "operator")
        if effect and effect not in EFFECTS:
            late.unsupported(here / "effect", effect, EFFECTS)


def _constraint(constraint: Object, known: set[str], path: Path, errors: Errors, late: Errors) -> None:
    validate_references(constraint.get("requests", []), known, path / "requests", errors, late)
    if "matchAttribute" in constraint:
        _names.fully_qualified(constraint["matchAttribute"], path / "matchAttribute", late)
    elif "distinctAttribute" in constraint:
        _names.fully_qualified(constraint["distinctAttribute"], path / "distinctAttribute", late)
    else:
        text = (
            'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
        )
        errors.required(path, text)


def validate_references(
    references: list[str], known: set[str], path: Path, errors: Errors, late: Errors
) -> None:
    """Check names of requests."""
    _lists.check_items(
        references, _MOST, lambda item, here: validate_reference(item, known, here, errors), path, late
    )
    _lists.unique(references, _lists.same, path, late, _MOST)


def validate_reference(name: str, known: set[str], path: Path, errors: Errors) -> None:
    """Check that a name is that of a request, or of one of its alternatives."""
    if name.count("/") > 1:
        errors.invalid(path, name, _NO_REQUEST)
        return
    for part in name.split("/"):
        _names.label(part, path, errors)
    if name not in known:
        errors.invalid(path, name, _NO_REQUEST)


def validate_configuration(config: Object, known: set[str], path: Path, errors: Errors, late: Errors) -> None:
    """Check configuration that is handed to a driver."""
    validate_references(config.get("requests", []), known, path / "requests", errors, late)
    validate_opaque(config, path, errors, late)


def validate_opaque(config: Object, path: Path, errors: Errors, late: Errors) -> None:
    """Check the driver, and that its parameters are an object."""
    if "opaque" not in config:
        errors.required(path / "opaque")
        return
    here = path / "opaque"
    _names.any_case_driver(config["opaque"].get("driver", ""), here / "driver", late)
    validate_raw(config["opaque"].get("parameters"), here / "parameters", errors)


def validate_raw(value: Any, path: Path, errors: Errors) -> None:
    """Check a value that only a driver understands."""
    if value is None:
        errors.required(path)
    elif len(orjson.dumps(value)) > _LARGEST:
        errors.too_long(path, _LARGEST)
    elif not isinstance(value, dict):
        errors.invalid(path, "<value omitted>", "must be a valid JSON object")
