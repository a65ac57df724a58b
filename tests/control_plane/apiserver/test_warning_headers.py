"""Warning headers: what is quoted, what is left out, how much of it is sent."""

from __future__ import annotations

import pytest

from pybernetes.control_plane.apiserver import warning_headers


@pytest.mark.parametrize(
    ("texts", "sent"),
    [
        (["one", 'tw"o'], [b'Warning: 299 - "one"', b'Warning: 299 - "tw\\"o"']),
        (["a\nb", "\x00", "", "\x7f", "é"], ['Warning: 299 - "é"'.encode()]),
        (["x" * 5000, "y"], [b'Warning: 299 - "%b"' % (b"x" * 256), b'Warning: 299 - "y"']),
        ([f"{number:0300}" for number in range(100)], [b'Warning: 299 - "%b"' % (b"0" * 256)] * 16),
    ],
)
def test_warnings(texts: list[str], sent: list[bytes]) -> None:
    assert warning_headers.headers(texts) == b"".join(line + b"\r\n" for line in sent)
