"""Mounts as the kernel lists them, with names that others chose."""

from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from pybernetes.lib.kernel import mountinfo
from pybernetes.lib.kernel.mountinfo import Mount, parse, points_below

_ESCAPED = {byte: b"\\%03o" % byte for byte in b" \t\n\\"}
_NAMES = st.binary(min_size=1, max_size=20).filter(lambda name: b"\0" not in name)


def escaped(name: bytes) -> bytes:
    """Return a name as the kernel writes it."""
    return b"".join(_ESCAPED.get(byte, bytes([byte])) for byte in name)


def test_the_mounts_of_this_machine() -> None:
    assert "/proc" in {mount.point for mount in mountinfo.mounts()}


@given(st.lists(st.tuples(_NAMES, _NAMES, _NAMES), max_size=4))
def test_whatever_others_call_what_is_mounted(names: list[tuple[bytes, bytes, bytes]]) -> None:
    lines = [
        b"36 35 0:%d /%s /%s rw,noatime master:1 - tmpfs %s rw"
        % (number, escaped(root), escaped(point), escaped(source))
        for number, (root, point, source) in enumerate(names)
    ]
    assert list(parse(b"".join(line + b"\n" for line in lines))) == [
        Mount("/" + os.fsdecode(point), f"0:{number}", os.fsdecode(source))
        for number, (_, point, source) in enumerate(names)
    ]


@given(_NAMES, st.lists(_NAMES, max_size=4), st.lists(_NAMES, max_size=4))
def test_mounts_below_a_folder_whatever_it_is_called(
    folder: bytes, inside: list[bytes], outside: list[bytes]
) -> None:
    places = [b"/%s/%s" % (folder, name) for name in inside] + [
        b"/x%s/%s" % (folder, name) for name in outside
    ]
    places += [b"/" + folder, b"/a/%s/b" % folder]
    text = b"".join(
        b"36 35 0:1 /%s %s rw - tmpfs %s rw\n" % (escaped(place), escaped(place), escaped(place))
        for place in places
    )
    top = os.fsdecode(b"/" + folder)
    below = [os.fsdecode(place) for place in places if os.fsdecode(place).startswith(top + "/")]
    assert points_below(top, text) == below
