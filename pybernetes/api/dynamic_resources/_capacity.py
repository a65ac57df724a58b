"""How much of a device's capacity a request may take, where several requests share the device."""

from __future__ import annotations

from fractions import Fraction

from pybernetes.api import quantity
from pybernetes.api.dynamic_resources import _lists
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object

_MOST_VALUES = 10
_LARGEST = 2**63 - 1


def validate_policy(policy: Object, capacity: str, path: Path, errors: Errors) -> None:
    """Check the values that a request may have."""
    values, span, default = policy.get("validValues", []), policy.get("validRange"), policy.get("default")
    if values and span is not None:
        text = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
        errors.forbidden(path, text)
    elif values:
        if default is None:
            errors.required(path / "default", "required when validValues is defined")
        else:
            _values(values, default, capacity, path / "validValues", errors)
    elif span is not None:
        if default is None:
            errors.required(path / "default", "required when validRange is defined")
        else:
            _range(span, default, capacity, path / "validRange", errors)


def _values(values: list[str], default: str, capacity: str, path: Path, errors: Errors) -> None:
    amounts = [quantity.parse(value) for value in values]
    for index in range(1, len(values)):
        if amounts[index - 1] > amounts[index]:
            errors.invalid(path[index], values[index], "values must be sorted in ascending order")

    def check(value: str, here: Path) -> None:
        if quantity.parse(value) > quantity.parse(capacity):
            errors.invalid(here, value, f"option is larger than capacity value: {capacity}")

    _lists.check_items(values, _MOST_VALUES, check, path, errors)
    _lists.unique(values, _lists.same, path, errors, _MOST_VALUES)
    if quantity.parse(default) not in amounts or len(values) > _MOST_VALUES:
        errors.invalid(path, default, "default value is not valid according to the requestPolicy")


def _range(span: Object, default: str, capacity: str, path: Path, errors: Errors) -> None:
    least, most, step = span.get("min"), span.get("max"), span.get("step")
    if least is None:
        errors.required(path / "min", "required when validRange is defined")
        return
    low, limit, start = quantity.parse(least), quantity.parse(capacity), quantity.parse(default)
    if low > limit:
        errors.invalid(path / "min", least, f"min is larger than capacity value: {capacity}")
    if start < low:
        errors.invalid(path / "default", default, f"default is less than min: {least}")
    if most is not None:
        high = quantity.parse(most)
        if low > high:
            errors.invalid(path / "max", least, f"min is larger than max: {most}")
        if high > limit:
            errors.invalid(path / "max", most, f"max is larger than capacity value: {capacity}")
        if start > high:
            errors.invalid(path / "default", default, f"default is more than max: {most}")
    if step is not None:
        _step(
            {"default": default, "min": least, "max": most, "step": step}, low, limit, capacity, path, errors
        )


def _step(
    given: dict[str, str | None], low: Fraction, limit: Fraction, capacity: str, path: Path, errors: Errors
) -> None:
    step = given["step"] or "0"
    size = quantity.parse(step)
    amounts = {key: (text, quantity.parse(text)) for key, text in given.items() if text is not None}
    if any(amount.denominator != 1 for _, amount in amounts.values()):
        fine = [key for key, (_, amount) in amounts.items() if (amount * 1000).denominator != 1]
        for key in fine:
            errors.invalid(path / key, amounts[key][0], "value cannot be represented as a milli value")
        if fine:
            return
    if size <= 0:
        errors.invalid(path / "step", step, "must be greater than zero")
        return
    if low + size > limit:
        first = quantity.canonical(str(low + size)) if (low + size).denominator == 1 else step
        errors.invalid(path / "step", step, f"one step {first} is larger than capacity value: {capacity}")
    for text, amount in amounts.values():
        if amount < 0:
            errors.invalid(path, text, "must be greater than or equal to 0")
            return
    for key in ("default", "max"):
        if key in amounts and (amounts[key][1] - low) % size:
            text = f"value is not a multiple of a given step ({step}) from ({given['min']})"
            errors.invalid(path / "step", amounts[key][0], text)
