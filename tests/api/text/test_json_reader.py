"""Malformed JSON in Go's words, and texts that are mended as Go mends them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pybernetes.api.text import json_reader


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "unexpected end of JSON input at line 1, column 1"),
        (b"{", "unexpected end of JSON input at line 1, column 2"),
        (b'{"a":"x', "unexpected end of JSON input at line 1, column 8"),
        (b"nul", "unexpected end of JSON input at line 1, column 4"),
        (b"}", "invalid character '}' looking for beginning of value at line 1, column 1"),
        (b'{"a":\n\n  b}', "invalid character 'b' looking for beginning of value at line 3, column 3"),
        (b"{a:1}", "invalid character 'a' looking for beginning of object key string at line 1, column 2"),
        (
            b"{'a':1}",
            "invalid character '\\'' looking for beginning of object key string at line 1, column 2",
        ),
        (b'{"a":1,}', "invalid character '}' looking for beginning of object key string at line 1, column 8"),
        (b'{"a" 1}', "invalid character '1' after object key at line 1, column 6"),
        (b'{"a":01}', "invalid character '1' after object key:value pair at line 1, column 7"),
        (b"[1 2]", "invalid character '2' after array element at line 1, column 4"),
        (b"{} x", "invalid character 'x' after top-level value at line 1, column 4"),
        (b'{"a":1.}', "invalid character '}' in numeric literal at line 1, column 8"),
        (b'{"a":-}', "invalid character '}' in numeric literal at line 1, column 7"),
        (b'{"a":tru}', "invalid character '}' in literal true (expecting 'e') at line 1, column 9"),
        (b'{"a":"\x01"}', "invalid character '\\x01' in string at line 1, column 7"),
        (b'{"a":"\\q"}', "invalid escape sequence `\\q` in string at line 1, column 7"),
        (b"[1,\n ]", "invalid character ']' looking for beginning of value at line 2, column 2"),
        (b"[.5]", "invalid character '.' looking for beginning of value at line 1, column 2"),
        (b"[+5]", "invalid character '+' looking for beginning of value at line 1, column 2"),
        (b"[NaN]", "invalid character 'N' looking for beginning of value at line 1, column 2"),
        (b"[-Infinity]", "invalid character 'I' in numeric literal at line 1, column 3"),
        (b"[-01]", "invalid character '1' after array element at line 1, column 4"),
        (b"01", "invalid character '1' after top-level value at line 1, column 2"),
        (b'["\\ud83d\\ude0T"]', "invalid escape sequence `\\ude0T` in string at line 1, column 9"),
        (b"[1e400]", "number is infinity when parsed as double"),
        (b"[" + b"1" * 5000 + b"]", "number is infinity when parsed as double"),
        (b"\xef\xbb\xbf{}", "invalid character '\\ufeff' looking for beginning of value at line 1, column 1"),
    ],
)
def test_complaints(text: bytes, message: str) -> None:
    with pytest.raises(json_reader.JsonError) as error:
        json_reader.loads(text)
    assert str(error.value) == message


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b"[" * 251 + b"]" * 251, id="arrays"),
        pytest.param(b"[" * 10_000 + b"]" * 10_000, id="more-than-the-parser-takes"),
        pytest.param(b"[" * 1_000_000, id="without-an-end"),
        pytest.param(b'{"a":' * 251 + b"1" + b"}" * 251, id="objects"),
        pytest.param(b'[{"a":' * 130 + b"1" + b"}]" * 130, id="both"),
    ],
)
def test_deep_nesting_is_refused(text: bytes) -> None:
    """What handles objects recurses, so that depth is limited where they come in."""
    with pytest.raises(json_reader.JsonError, match="exceeded max depth"):
        json_reader.loads(text)


def test_nesting_up_to_the_limit_is_read() -> None:
    assert json_reader.loads(b"[" * 250 + b"]" * 250)
    assert len(json_reader.loads(b"[" + b"[]," * 10_000 + b"[]]")) == 10_001


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'{"a":"b\xff"}', {"a": "b\ufffd"}),
        (b'{"a":"\\ud800"}', {"a": "\ufffd"}),
        (b'{"a":"\\udc00x\\ud83d\\ude00"}', {"a": "\ufffdx\U0001f600"}),
        (b'{"a":"\\\\ud800\\ud800"}', {"a": "\\ud800\ufffd"}),
    ],
)
def test_what_is_no_character_is_replaced(text: bytes, value: Any) -> None:
    assert json_reader.loads(text) == value


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(_VALUES)
def test_what_is_json_is_read(value: Any) -> None:
    text = json.dumps(value)
    assert json_reader.loads(text.encode()) == json.loads(json.dumps(value))


@given(_VALUES, st.integers(0), st.integers(0, 255))
@example(10**999, 1, ord("e"))
def test_what_is_not_is_always_complained_about(value: Any, place: int, byte: int) -> None:
    """A text with one byte changed is either read or refused with a place, and nothing else happens.

    Only a number that is too large is JSON, and has no place in particular.
    """
    text = bytearray(json.dumps(value).encode())
    text[place % len(text)] = byte
    try:
        json_reader.loads(bytes(text))
    except json_reader.JsonError as error:
        assert ("line" in str(error) and "column" in str(error)) or "infinity" in str(error)
