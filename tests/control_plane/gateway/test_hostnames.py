"""Host names: which covers which, and what two have in common."""

from __future__ import annotations

import pytest

from pybernetes.control_plane.gateway import hostnames


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        ("", "", "*"),
        ("", "a.example", "a.example"),
        ("a.example", "a.example", "a.example"),
        ("a.example", "b.example", None),
        ("*.example", "a.example", "a.example"),
        ("*.example", "a.b.example", "a.b.example"),
        ("*.example", "example", None),
        ("*.example", "*.b.example", "*.b.example"),
        ("*.example", "aexample", None),
        ("*.a.example", "*.b.example", None),
    ],
)
def test_what_two_names_have_in_common(one: str, other: str, common: str | None) -> None:
    assert hostnames.intersection(one, other) == common
    assert hostnames.intersection(other, one) == common


def test_a_route_without_names_has_those_of_the_listener() -> None:
    assert hostnames.common("*.example", ()) == ["*.example"]
    assert hostnames.common("", ()) == ["*"]
    assert hostnames.common("*.example", ("a.example", "b.test", "a.example")) == ["a.example"]


def test_wider_names_come_from_near_to_far() -> None:
    assert list(hostnames.wider("a.b.example")) == ["*.b.example", "*.example", "*"]
    assert list(hostnames.wider("*.b.example")) == ["*.example", "*"]
    assert list(hostnames.wider("*")) == []
    names = ["*", "*.example", "*.b.example", "a.example"]
    assert sorted(reversed(names), key=hostnames.specificity) == names
