"""YAML as upstream reads it, and texts that try to take more than their share."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api.text import yaml_reader


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"", None),
        (b"# nothing", None),
        (b"a: b\n---\nc: d\n", {"a": "b"}),
        (b"[yes, No, on, OFF, true, y, n, maybe]", [True, False, True, False, True, True, False, "maybe"]),
        (b"[~, null, '', \"null\", 'yes', !!str 5]", [None, None, "", "null", "yes", "5"]),
        (b"[1, -2, 010, 0o10, 0x1F, 0b11, 1_000, 1.5, .5, 1e3, +1]", [1, -2, 8, 8, 31, 3, 1000, 1.5, 0.5, 1000.0, 1]),
        # Go has 64 bits for whole numbers, then those with a fraction, and leaves as text what fits neither.
        (b"[18446744073709551615, -9223372036854775808, 0x0000000000000000001F, 0xffffffffffffffff]",
         [2**64 - 1, -(2**63), 31, 2**64 - 1]),
        (b"[18446744073709551616, +18446744073709551615, 07777777777777777777777777]",
         [float(2**64), float(2**64), 7777777777777777777777777.0]),
        (b"[0x10000000000000000, -0xffffffffffffffff, 1e999, -1e999]",
         ["0x10000000000000000", "-0xffffffffffffffff", "1e999", "-1e999"]),
        (b"0x" + b"f" * 300_000, "0x" + "f" * 300_000),
        (b"1" * 300_000, "1" * 300_000),
        (b"0b" + b"1" * 300_000, "0b" + "1" * 300_000),
        (b"[2026-01-02, 2026-01-02T03:04:05Z, 1.2.3, 08]", ["2026-01-02", "2026-01-02T03:04:05Z", "1.2.3", 8.0]),
        (b"{1: a, true: b, 1.5: c}", {"1": "a", "true": "b", "1.5": "c"}),
        (b"a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}\nf: {<<: [*x], b: 3}",
         {"a": {"b": 1}, "c": {"b": 1}, "d": {"b": 1, "e": 2}, "f": {"b": 3}}),
        (b"a: |\n  two\n  lines\nb: >-\n  one\n  line\n", {"a": "two\nlines\n", "b": "one line"}),
        (b"a: !!binary aGVsbG8=", {"a": "hello"}),
        (b"a: !unknown 5", {"a": 5}),
    ],
)  # fmt: skip
def test_values(text: bytes, value: Any) -> None:
    assert yaml_reader.loads(text)[0] == value


def test_keys_that_are_there_twice() -> None:
    value, repeated = yaml_reader.loads(b"a: 1\nb: {c: 1, c: 2}\na: 3\n")
    assert value == {"a": 3, "b": {"c": 2}}
    assert repeated == ['line 2: key "c" already set in map', 'line 3: key "a" already set in map']


_BOMB = b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
    b"%c: &%c [%b]\n" % (98 + i, 98 + i, b",".join([b"*%c" % (97 + i)] * 9)) for i in range(9)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"a: [", "yaml: line 1: did not find expected node content"),
        (b"a: b: c", "yaml: mapping values are not allowed in this context"),
        (b"a: b\nc: d: e", "yaml: line 2: mapping values are not allowed in this context"),
        (b"a: *x", "yaml: unknown anchor 'x' referenced"),
        (b"a: &a [*a]", "yaml: unknown anchor 'a' referenced"),
        (b"? [a]\n: b", "cannot be the key of a JSON object"),
        (b"~: b", "null cannot be the key of a JSON object"),
        (b"a: b\0", "yaml: control characters are not allowed"),
        (b"a: .nan", "yaml: .nan has no JSON form"),
        (b"{<<: 1}", "map merge requires map"),
        (b"[" * 100_000, "yaml: exceeded max depth"),
        (b'{"a":' * 100_000, "yaml: exceeded max depth"),
        (b"- " * 100_000, "yaml: exceeded max depth"),
        (_BOMB, "yaml: document contains excessive aliasing"),
        (b"a: \xff\xff\xff", "yaml:"),
    ],
)
def test_refusals(text: bytes, message: str) -> None:
    with pytest.raises(yaml_reader.YamlError) as error:
        yaml_reader.loads(text)
    assert message in str(error.value)


def test_two_places_never_hold_the_same_value() -> None:
    value, _ = yaml_reader.loads(b"a: &x {b: []}\nc: *x")
    value["a"]["b"].append(1)
    assert value["c"] == {"b": []}


# Texts that the library writes without quotes, since they mean nothing to it, and that Go reads as something else.
_ONLY_GO = re.compile(r"[yYnN]|[-+]?[0-9._]+[eE][-+]?[0-9_]+|[-+]?0o[0-7_]+")
_TEXT = st.text(st.characters(max_codepoint=0x2000, exclude_categories=("Cc", "Cs", "Zl", "Zp"))).filter(
    lambda text: _ONLY_GO.fullmatch(text) is None
)
_FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | _TEXT | _FLOATS,
        lambda inner: st.lists(inner) | st.dictionaries(_TEXT, inner),
    )
)
def test_what_others_write_is_read(value: Any) -> None:
    """JSON is YAML, and what a YAML library writes comes back as it was."""
    assert yaml_reader.loads(json.dumps(value, ensure_ascii=False).encode())[0] == value
    text = yaml.safe_dump(value)
    if "!!" not in text and "\\" not in text:
        assert yaml_reader.loads(text.encode())[0] == value


@given(st.binary())
def test_nothing_but_its_own_error(text: bytes) -> None:
    try:
        yaml_reader.loads(text)
    except yaml_reader.YamlError:
        pass
