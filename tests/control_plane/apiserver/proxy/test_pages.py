"""Pages through the proxy: packed ones, broken ones, and what is no page."""

from __future__ import annotations

import gzip
import zlib

import pytest

from pybernetes.control_plane.apiserver.proxy.pages import PageBody, page_body
from pybernetes.lib.http.inflation import BadEncoding

HTML, CHANGED = b'<p><a href="/x">' * 5000, b'<p><a href="/p/x">' * 5000


def deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def sent(body: PageBody, data: bytes, size: int = 1000) -> bytes:
    """Return what a body becomes that comes in pieces."""
    parts = [piece for at in range(0, len(data), size) for piece in body.feed(data[at : at + size])]
    return b"".join(parts) + body.finish()


def test_plain() -> None:
    assert sent(PageBody("/p", "h"), HTML) == CHANGED


@pytest.mark.parametrize(
    "packed", [gzip.compress(HTML), gzip.compress(HTML[:160]) + gzip.compress(HTML[160:])]
)
@pytest.mark.parametrize("size", [1, 1000, 1 << 20])
def test_packed(packed: bytes, size: int) -> None:
    assert gzip.decompress(sent(PageBody("/p", "h", b"gzip"), packed, size)) == CHANGED


def test_deflated() -> None:
    assert zlib.decompress(sent(PageBody("/p", "h", b"deflate"), deflated(HTML)), -15) == CHANGED


@pytest.mark.parametrize("size", [1, 10, len(gzip.compress(HTML)) - 1])
def test_a_packed_page_that_is_cut_off_is_broken(size: int) -> None:
    with pytest.raises(BadEncoding, match="unexpected EOF"):
        sent(PageBody("/p", "h", b"gzip"), gzip.compress(HTML)[:size])


@pytest.mark.parametrize(
    "data", [b"no gzip at all", gzip.compress(HTML) + b"more", gzip.compress(HTML)[:-8] + b"\0" * 8]
)
def test_a_page_that_is_not_what_it_says_is_broken(data: bytes) -> None:
    with pytest.raises(BadEncoding):
        sent(PageBody("/p", "h", b"gzip"), data)


@pytest.mark.parametrize("encoding", [b"gzip", b"deflate"])
def test_a_small_body_that_holds_a_lot_is_refused(encoding: bytes) -> None:
    """It is unpacked in bounded pieces, and no further than some times its own size."""
    packed = {b"gzip": gzip.compress, b"deflate": deflated}[encoding](b"\0" * (64 << 20))
    body, given = PageBody("/p", "h", encoding), 0
    with pytest.raises(BadEncoding, match="holds too much"):
        for _ in body.feed(packed):
            given += 1
    assert given * 4096 <= 20 << 20


def test_work_is_done_in_bounded_pieces() -> None:
    body = PageBody("/p", "h")
    assert max(len(piece) for piece in body.feed(b"x" * (1 << 20))) <= 4096


def test_what_is_no_page_stays() -> None:
    assert page_body("/p", "h", b"application/json", b"") is None
    assert page_body("/p", "h", b"text/htmlx", b"") is None
    assert page_body("/p", "h", b"text/html", b"br") is None
    assert page_body("", "h", b"text/html", b"") is None
    assert page_body("/p", "h", b"text/html; charset=utf-8", b"gzip") is not None
