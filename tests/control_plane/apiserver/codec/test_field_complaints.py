"""Unknown and duplicate fields in the order of the text, however the text is cut."""

from __future__ import annotations

import pytest

from pybernetes.api.schema.places import Place
from pybernetes.control_plane.apiserver.codec.field_complaints import field_complaints

UNKNOWN: list[Place] = [(None, "odd"), (((None, "list"), 1), "odd")]


@pytest.mark.parametrize("size", [1, 3, 10, 50, 10_000])
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (b'{"a":1,"b":2}', []),
        (b'{"a":1,"a":2,"a":3}', ["a"]),
        (b'{"a":{"b":[1,{"c":1,"d":2,"c":3},[{"e":1,"e":1}]]},"a":1}', ["a.b[1].c", "a.b[2][0].e", "a"]),
        (b'{"odd":{"a":1,"a":2},"list":[{"odd":1},{"x":1,"odd":2,"x":2},{"odd":3}]}', ["odd", "list[1].odd", "list[1].x"]),
        (b'{"a":"\\"a\\":1,","b":[],"b":{},"c":[[1,1],[2,2]]}', ["b"]),
        (b'{"\xff":1,"\xff":2}', ["\ufffd"]),
        (b"[1,2,[3,{}]]", []),
        (b"5", []),
    ],
)  # fmt: skip
def test_complaints(text: bytes, wanted: list[str], size: int) -> None:
    complaints = field_complaints(text, UNKNOWN, size)
    assert [line.partition(" field ")[2].strip('"') for line in complaints] == wanted
    sorts = ["unknown" if path.endswith("odd") else "duplicate" for path in wanted]
    assert [line.partition(" ")[0] for line in complaints] == sorts


def test_no_more_than_a_hundred_are_told() -> None:
    assert (
        len(
            field_complaints(b"{" + b",".join(b'"k%d":1' % (number // 2) for number in range(999)) + b"}", [])
        )
        == 100
    )
