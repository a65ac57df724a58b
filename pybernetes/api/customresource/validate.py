"""Checks of a value against an OpenAPI schema, with Kubernetes' messages.

On updates, what has not changed since it was stored is not complained about again ("ratcheting"): ``old`` is the
value that stood at the same place, or ``ABSENT`` if there is none that can be compared.
"""

from __future__ import annotations

from types import NoneType
from typing import Any

import orjson

from pybernetes.api.customresource import formats
from pybernetes.api.customresource.types import INT_OR_STRING
from pybernetes.api.field import Errors
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.lib.memory.bounded_cache import bounded_cache

ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "ABSENT"})()
_INT_RANGES = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
# What Go holds numbers as.
_GO_FORMATS: dict[type, str] = {int: "int64", float: "float64"}
_MOST_EXACT = float(2**53)
_FLOAT32 = 3.4028234663852886e38


@bounded_cache(32 << 20, weight=200)
def _pattern(text: str) -> Any:
    import re2  # late: only custom resources with patterns need it

    return re2.compile(text)


class Where:
    """Where a value is, made into text when there is an error to tell: a key can be as long as the whole object."""

    __slots__ = ("parent", "part")

    def __init__(self, part: str = "", parent: Where | None = None) -> None:
        self.part, self.parent = part, parent

    def __str__(self) -> str:
        parts, where = [], self
        while where.parent is not None:
            parts.append(where.part)
            where = where.parent
        parts.reverse()
        return "".join(parts)


def check(schema: Object, value: Any, errors: Errors, old: Any = ABSENT) -> None:
    """Collect what is wrong with a value."""
    _check(schema, value, errors, old, Where())


def _check(schema: Object, value: Any, errors: Errors, old: Any, path: Where) -> None:
    if errors.full:
        return
    start = len(errors)
    _node(schema, value, path, errors, old)
    # Comparing with the old value is only worth it when there is an error that it could excuse.
    if len(errors) > start and old is not ABSENT and _same(value, old):
        del errors[start:]


def _same(value: Any, old: Any) -> bool:
    sort = orjson.OPT_SORT_KEYS
    return orjson.dumps(value, option=sort) == orjson.dumps(old, option=sort)


def _node(schema: Object, value: Any, path: Where, errors: Errors, old: Any) -> None:
    _type(schema, value, path, errors)
    kind = type(value)
    if value is not None:
        if "allOf" in schema or "anyOf" in schema or "oneOf" in schema or "not" in schema:
            _combined(schema, value, path, errors, old)
        if kind is str:
            _string(schema, value, path, errors)
        elif kind in (int, float):
            _number(schema, value, path, errors)
        elif kind is list:
            _list(schema, value, path, errors, old)
    if schema.get("enum") and not any(_equal(value, allowed) for allowed in schema["enum"]):
        texts = [item if type(item) is str else orjson.dumps(item).decode() for item in schema["enum"]]
        errors.unsupported(_field(path), value, texts)
    if kind is dict:
        _object(schema, value, path, errors, old)


def _equal(value: Any, allowed: Any) -> bool:
    return value == allowed and (type(value) is bool) == (type(allowed) is bool)


def _field(path: Where) -> str:
    return str(path).removeprefix(".")


def json_type(value: Any) -> str:
    """Return the name that JSON schema has for the type of a value."""
    if value is None:
        return "null"
    names = {bool: "boolean", str: "string", int: "integer", float: "number", list: "array", dict: "object"}
    return names[type(value)]


def _type(schema: Object, value: Any, path: Where, errors: Errors) -> None:
    expected = ("integer", "string") if schema.get(INT_OR_STRING) else (schema.get("type") or "",)
    form = formats.known(schema.get("type") or "", schema.get("format") or "")
    has_form = form and type(value) not in (str, list, NoneType)
    if expected == ("",) and not has_form:
        return
    if value is None and schema.get("nullable"):
        return
    given = json_type(value)
    if given in expected or (given == "integer" and "number" in expected):
        return
    if given == "number" and "integer" in expected and float(value).is_integer():
        return
    wanted = ",".join(expected)
    if has_form:
        wanted, given = form, _GO_FORMATS.get(type(value), "")  # a value with a format is named by it
    errors.type_invalid(_field(path), given, f'{path} in body must be of type {wanted}: "{given}"')


def _combined(schema: Object, value: Any, path: Where, errors: Errors, old: Any) -> None:
    if schema.get("anyOf"):
        results = [_result(child, value, path, old) for child in schema["anyOf"]]
        if all(results):
            errors.invalid("", "", f"{_quoted(path)} must validate at least one schema (anyOf)")
            errors.extend(results[0])
    if schema.get("oneOf"):
        results = [_result(child, value, path, old) for child in schema["oneOf"]]
        valid = sum(not result for result in results)
        if valid != 1:
            valid_text = f"Found {valid} valid alternatives" if valid else "Found none valid"
            errors.invalid(
                "", "", f"{_quoted(path)} must validate one and only one schema (oneOf). {valid_text}"
            )
            if not valid:
                errors.extend(results[0])
    if schema.get("allOf"):
        results = [_result(child, value, path, old) for child in schema["allOf"]]
        for result in results:
            errors.extend(result)
        if any(results):
            none = ". None validated" if all(results) else ""
            errors.invalid("", "", f"{_quoted(path)} must validate all the schemas (allOf){none}")
    if "not" in schema and not _result(schema["not"], value, path, old):
        errors.invalid("", "", f"{_quoted(path)} must not validate the schema (not)")


def _quoted(path: Where) -> str:
    return go_format.quote(str(path))


def _result(schema: Object, value: Any, path: Where, old: Any) -> Errors:
    errors = Errors()
    _node(schema, value, path, errors, old)
    return errors


def _string(schema: Object, value: str, path: Where, errors: Errors) -> None:
    # Only the first of these that is wrong is reported.
    if "maxLength" in schema and len(value) > schema["maxLength"]:
        errors.too_long(_field(path), schema["maxLength"])
    elif "minLength" in schema and len(value) < schema["minLength"]:
        least = schema["minLength"]
        errors.invalid(_field(path), value, f"{path} in body should be at least {least} chars long")
    elif schema.get("pattern"):
        pattern = schema["pattern"]
        try:
            matches = _pattern(pattern).search(value) is not None
        except Exception as error:
            pattern, matches = f"{pattern}, but pattern is invalid: {error}", False
        if not matches:
            errors.invalid(_field(path), value, f"{path} in body should match '{pattern}'")
    form = schema.get("format")
    if form and schema.get("type") in ("string", None) and not formats.fits(value, form):
        text = f"{path} in body must be of type {form}: {go_format.quote(value)}"
        errors.type_invalid(_field(path), value, text)


def _number(schema: Object, value: Any, path: Where, errors: Errors) -> None:
    form, kind = schema.get("format", ""), schema.get("type", "")
    if kind == "integer" and not schema.get(INT_OR_STRING):
        low, high = _INT_RANGES.get(form, _INT_RANGES["int64"])
        if form == "int64" and not low <= value <= high:  # Go holds it as a float
            errors.type_invalid(_field(path), "float64", f'{path} in body must be of type {form}: "float64"')
        if not float(value).is_integer() or not low <= value <= high:
            shown = f"with format {form}" if form in _INT_RANGES else "(default format)"
            errors.invalid("", "", f"Checked value must be of type {kind} {shown} in {path}")
    elif kind == "number" and form == "float" and abs(value) > _FLOAT32:
        errors.invalid("", "", f"Checked value must be of type {kind} with format {form} in {path}")
    factor = schema.get("multipleOf")
    if factor is not None and not _is_multiple(value, factor):
        errors.invalid(_field(path), value, f"{path} in body should be a multiple of {_plain(factor)}")
    most = schema.get("maximum")
    if most is not None:
        exclusive = schema.get("exclusiveMaximum")
        if value > most or (exclusive and value == most):
            words = "less than" if exclusive else "less than or equal to"
            errors.invalid(_field(path), value, f"{path} in body should be {words} {_plain(most)}")
    least = schema.get("minimum")
    if least is not None:
        exclusive = schema.get("exclusiveMinimum")
        if value < least or (exclusive and value == least):
            words = "greater than" if exclusive else "greater than or equal to"
            errors.invalid(_field(path), value, f"{path} in body should be {words} {_plain(least)}")


def _is_multiple(value: Any, factor: Any) -> bool:
    if factor <= 0:
        return False
    quotient = 1 / factor * value if factor < 1 else value / factor
    if not abs(quotient) < _MOST_EXACT:  # a float beyond is no sure integer, and one without a limit is none
        return False
    return abs(quotient - round(quotient)) < 1e-9 * max(1.0, abs(quotient))


def _plain(number: Any) -> str:
    return str(int(number)) if float(number).is_integer() and abs(number) < 1e21 else repr(number)


def _list(schema: Object, value: list[Any], path: Where, errors: Errors, old: Any) -> None:
    items = schema.get("items")
    if type(items) is dict:
        before = _correlated(schema, value, old)
        for index, item in enumerate(value):
            _check(items, item, errors, before[index], Where(f"[{index}]", path))
    if "minItems" in schema and len(value) < schema["minItems"]:
        least = schema["minItems"]
        errors.invalid(_field(path), len(value), f"{path} in body should have at least {least} items")
    if "maxItems" in schema and len(value) > schema["maxItems"]:
        errors.too_many(_field(path), len(value), schema["maxItems"])


def _correlated(schema: Object, value: list[Any], old: Any) -> list[Any]:
    """Return the old item for each item of a list: only lists that are maps tell which one it is."""
    if schema.get("x-kubernetes-list-type") != "map" or type(old) is not list:
        return [ABSENT] * len(value)
    keys = schema.get("x-kubernetes-list-map-keys", ())
    known = {_identity(item, keys): item for item in old if type(item) is dict}
    return [known.get(_identity(item, keys), ABSENT) if type(item) is dict else ABSENT for item in value]


def _identity(item: Object, keys: Any) -> bytes:
    return orjson.dumps([item.get(key) for key in keys], option=orjson.OPT_SORT_KEYS)


def _object(schema: Object, value: Object, path: Where, errors: Errors, old: Any) -> None:
    size = len(value)
    if "minProperties" in schema and size < schema["minProperties"]:
        least = schema["minProperties"]
        errors.invalid(_field(path), size, f"{path} in body should have at least {least} properties")
    if "maxProperties" in schema and size > schema["maxProperties"]:
        errors.too_many(_field(path), size, schema["maxProperties"])
    before = old if type(old) is dict else {}
    properties, additional = schema.get("properties") or {}, schema.get("additionalProperties")
    if additional is False:
        for key in value:
            if key not in properties:
                errors.invalid(_field(path), key, f"{path}.{key} in body is a forbidden property")
    elif type(additional) is dict:
        for key, item in value.items():
            if key not in properties:
                _check(additional, item, errors, before.get(key, ABSENT), Where(f".{key}", path))
    for key, child in properties.items():
        if key in value:
            here = Where(f".{key}" if path.parent else key, path)
            _check(child, value[key], errors, before.get(key, ABSENT), here)
    for key in schema.get("required") or ():
        if key not in value:
            errors.required(_field(Where(f".{key}", path)))
