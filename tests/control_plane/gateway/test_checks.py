"""What others wrote never reaches the proxy in a form that it refuses or understands as something else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.control_plane.gateway import checks
from pybernetes.control_plane.gateway.checks import Unsupported

REFUSED = [
    (checks.header_name, "a\r\nb: c"),
    (checks.header_name, ":path"),
    (checks.header_name, ""),
    (checks.changed_header, "Host"),
    (checks.changed_header, "x-envoy-original-path"),
    (checks.changed_header, "Transfer-Encoding"),
    (checks.header_value, "a\r\nset-cookie: b"),
    (checks.header_value, "a\0"),
    (checks.path, "a"),
    (checks.path, "/a b"),
    (checks.path, "/a#b"),
    (checks.path, "/a?b"),  # the proxy refuses it in a prefix, and with it the whole port
    (checks.path, '/a"; }'),
    (checks.pattern, "("),
    (checks.pattern, "a" * 5000),
    (checks.pattern, "((a{1,100}){1,100}){1,100}"),
    (checks.pattern, r"(?=a)"),
    (checks.duration, "1"),
    (checks.duration, "1s2"),
    (checks.duration, ""),
]


@pytest.mark.parametrize(("check", "text"), REFUSED)
def test_what_is_refused(check: object, text: str) -> None:
    with pytest.raises(Unsupported):
        check(text)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0s", 0), ("10s", 10), ("1m30s", 90), ("1h", 3600), ("500ms", 0.5), ("1h2m3s4ms", 3723.004)],
)
def test_durations(text: str, seconds: float) -> None:
    assert checks.duration(text) == pytest.approx(seconds)


@given(st.text(max_size=40))
def test_values_that_pass_have_nothing_that_ends_them(text: str) -> None:
    try:
        value = checks.header_value(text)
    except Unsupported:
        return
    assert not set(value) & set("\r\n\0")
