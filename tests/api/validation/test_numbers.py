import pytest

from pybernetes.api.field import Errors, Path
from pybernetes.api.validation import numbers


@pytest.mark.parametrize(
    ("value", "number", "errors"),
    [
        (3, 3, 0),
        (-1, -1, 1),
        ("25%", 25, 0),
        ("101%", 101, 1),
        ("5", 5, 1),
        ("x%", 0, 1),
        ("", 0, 1),
        ("٣%", 0, 1),
    ],
)
def test_int_or_percent(value: int | str, number: int, errors: int) -> None:
    reported = Errors()
    numbers.int_or_percent(value, Path("a"), reported)
    numbers.at_most_100_percent(value, Path("a"), reported)
    assert (numbers.int_or_percent_value(value), len(reported)) == (number, errors)


def test_nonnegative_fields() -> None:
    reported = Errors()
    numbers.nonnegative_fields({"a": -1, "b": 0}, ("a", "b", "c"), Path("spec"), reported)
    assert [str(error) for error in reported] == [
        "spec.a: Invalid value: -1: must be greater than or equal to 0"
    ]
