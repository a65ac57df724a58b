"""Texts in pieces: however they are cut, the value, the keys and the complaints are those of the whole text."""

from __future__ import annotations

import json
import random
from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pybernetes.api.text import json_reader
from pybernetes.lib.event_loop import json_pieces

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text("ab,:{}[]\"\\é", max_size=3), inner),
    max_leaves=30,
)  # fmt: skip
SIZES = st.integers(1, 40)
# What makes a text another one, or none at all.
SPOILERS = st.sampled_from(
    [b"", b",", b"]", b"}", b"[", b"{", b'"', b"\\", b":", b" ", b"\xff", b"0", b"x", b'"a":1,', b"\n"]
)


def _outcome(raw: bytes, size: int) -> object:
    """Return what reading gives, the order of keys included, or the complaint."""
    try:
        value = json_reader.read_pieces(raw, size)[0] if size else json_reader.loads(raw)
        return json.dumps(value)
    except json_reader.JsonError as error:
        return str(error)


def _spaced(value: Any, seed: int) -> bytes:
    chance = random.Random(seed)
    separators = (chance.choice([",", " ,\n", ", "]), chance.choice([":", " : ", ":\t"]))
    return json.dumps(value, separators=separators, ensure_ascii=chance.random() < 0.5).encode()


@given(VALUES, SIZES, st.integers(0, 9))
def test_a_text_in_pieces_is_the_whole_text(value: Any, size: int, seed: int) -> None:
    raw = _spaced(value, seed)
    assert _outcome(raw, size) == _outcome(raw, 0)


@given(
    VALUES,
    SIZES,
    st.integers(0, 9),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 3), SPOILERS), max_size=3),
)
@example([1, 2], 1, 0, [(1, 0, b",")])
@example([[1], 2], 2, 0, [(4, 0, b"]")])
def test_a_spoiled_text_is_refused_in_the_same_words(
    value: Any, size: int, seed: int, spoilers: list[tuple[int, int, bytes]]
) -> None:
    raw = _spaced(value, seed)
    for place, length, spoiler in spoilers:
        place %= len(raw) + 1
        raw = raw[:place] + spoiler + raw[place + length :]
    assert _outcome(raw, size) == _outcome(raw, 0)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 1000])
@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b'{"a":{"x":1,"y":2},"b":1,"a":{"z":[1,2,3],"z":[4,5,6]}}', id="a-key-twice"),
        pytest.param(b'{"a":[1,2,{"b":1,"b":2}],"a":3,"c":[4,5]}', id="replaced-by-another-sort"),
        pytest.param(b'["a,b","[{,","\\\\",",\\"",{"]}":",","":[",",1]}]', id="marks-inside-of-texts"),
        pytest.param(b'[1,"' + b'\\"' * 40 + b'",2,"' + b"x" * 90 + b'"]', id="long-texts"),
        pytest.param(b'[["\\ud83d",1],["\xff\xc3",2],["\\ud83d\\ude00",3]]', id="halves-of-characters"),
        pytest.param(b"[" * 100 + b"1,2" + b"],3" * 99 + b"]", id="deep"),
        pytest.param(b"[1,2]" + b" " * 90, id="blanks-behind"),
        pytest.param(b" " * 90 + b"[ 1 ,\n 2 ]", id="blanks-before"),
    ],
)
def test_hard_ones(raw: bytes, size: int) -> None:
    assert _outcome(raw, size) == _outcome(raw, 0)
    assert not str(_outcome(raw, size)).startswith("invalid")


@pytest.mark.parametrize(
    "raw",
    [b"[1,,2]", b"[,1]", b"{,}", b'{"a",1}', b'{"a":,1}', b"1,2,3", b"[1],[2]", b"[1,2}", b"[1,2", b'["a,b', b'["a\\',
     b"[1,2]]", b"[1,2],", b'{"a":1,}', b"[01,2]", b"[1 ,  , 2]", b"[" * 300 + b"1,2" + b"]" * 300,
     b"[1," * 5000, b"\xff,1", b'{"a":1 "b":2,"c":3}', b""],
)  # fmt: skip
@pytest.mark.parametrize("size", [1, 2, 4, 7, 1000])
def test_broken_ones(raw: bytes, size: int) -> None:
    assert _outcome(raw, size) == _outcome(raw, 0)
    assert not str(_outcome(raw, size)).startswith(("[", "{"))


@given(VALUES, SIZES)
def test_keys_are_counted(value: Any, size: int) -> None:
    def keys(part: Any) -> int:
        if isinstance(part, dict):
            return len(part) + sum(map(keys, part.values()))
        return sum(map(keys, part)) if isinstance(part, list) else 0

    assert json_reader.read_pieces(json.dumps(value).encode(), size)[1] == keys(value)


def test_only_what_has_many_marks_is_divided() -> None:
    assert not json_pieces.has_many_marks(orjson.dumps({"data": {"a": "x" * 3_000_000}}))
    assert json_pieces.has_many_marks(orjson.dumps(dict.fromkeys(map(str, range(20_000)), 1)))


def test_no_piece_is_large() -> None:
    raw = orjson.dumps([{"a": [number, "é", {}]} for number in range(20_000)])
    sizes = [piece.end - piece.start for piece in json_pieces.pieces(raw)]
    assert max(sizes) <= json_pieces.SLICE + 100
    assert sum(sizes) == len(raw)
