"""Links of pages behind the proxy."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.control_plane.apiserver.proxy.links import Page, led_back, page

PREFIX, HOST = "/api/v1/namespaces/n/pods/http:p:80/proxy", "10.0.0.1:80"


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("/there", PREFIX + "/there"),
        ("/there/?a=b#c", PREFIX + "/there/?a=b#c"),
        ("http://10.0.0.1:80/there", PREFIX + "/there"),
        ("http://example.com/there", "http://example.com/there"),
        ("//example.com/there", "//example.com/there"),
        ("relative/path", "relative/path"),
        ("#part", "#part"),
        ("mailto:a@b", "mailto:a@b"),
        (PREFIX + "/there", PREFIX + "/there"),
        ("http://[broken", "http://[broken"),
    ],
)
def test_where_a_link_leads(url: str, wanted: str) -> None:
    assert led_back(url, PREFIX, HOST) == wanted


HTML = b"""<!doctype html><html><a href="/x">/x</a> 1 < 2 <IMG class=a SRC=\'/i.png\' alt="/no"><form action=/go>
<p title="/no"><a href="http://example.com/">out</a><script src="/s.js">if (a<b) c("/no")</script></html>"""
WANTED = (
    HTML.replace(b'"/x"', f'"{PREFIX}/x"'.encode())
    .replace(b"'/i.png'", f"'{PREFIX}/i.png'".encode())
    .replace(b"=/go", f"={PREFIX}/go".encode())
    .replace(b'"/s.js"', f'"{PREFIX}/s.js"'.encode())
)


@given(st.lists(st.integers(1, 40), max_size=40))
def test_a_page_in_pieces(sizes: list[int]) -> None:
    changed, at, sent = Page(PREFIX, HOST), 0, b""
    for size in sizes:
        sent += changed.feed(HTML[at : at + size])
        at += size
    assert sent + changed.feed(HTML[at:]) + changed.finish() == WANTED


def test_a_page_that_is_packed() -> None:
    changed = Page(PREFIX, HOST, b"gzip")
    packed = gzip.compress(HTML)
    assert gzip.decompress(changed.feed(packed[:50]) + changed.feed(packed[50:]) + changed.finish()) == WANTED


def test_what_is_no_page_stays() -> None:
    assert page(PREFIX, HOST, b"application/json", b"") is None
    assert page(PREFIX, HOST, b"text/html", b"br") is None
    assert page("", HOST, b"text/html", b"") is None
    assert page(PREFIX, HOST, b"text/html; charset=utf-8", b"") is not None
