"""Links of pages behind the proxy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.control_plane.apiserver.proxy.links import Page, led_back
from tests.doubling import MOST_GROWTH, Input, growth

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


def marked(url: str) -> str:
    """Return a URL that shows that it was seen."""
    return f"[{url}]"


HTML = b"""<!doctype html "<a href=/no>"><html><a href="/x">/x</a> 1 < 2 <IMG class=a SRC='/i.png' alt="/no"><form action=/go>
<p title="<a href='/no'>"><a href="http://example.com/">out</a><script src="/s.js">if (a<b) c("<a href='/no'>")</script>
<!-- <a href="/no"> --><!--><a href=/y><!---><a
href = '/z'
rel=it's title=">" /><textarea><a href=/no></textareas><a href=/no></TEXTAREA ><a href=/end></a href=/no>"""
WANTED = HTML
for link in (b"/x", b"/i.png", b"/go", b"/s.js", b"/y", b"/z", b"/end", b"http://example.com/"):
    for before, after in ((b'="', b'"'), (b"='", b"'"), (b"= '", b"'"), (b"=", b">")):
        WANTED = WANTED.replace(before + link + after, before + b"[" + link + b"]" + after)


@given(st.lists(st.integers(1, 40), max_size=40))
def test_a_page_in_pieces(sizes: list[int]) -> None:
    changed, at, sent = Page(marked), 0, b""
    for size in sizes:
        sent += changed.feed(HTML[at : at + size])
        at += size
    assert sent + changed.feed(HTML[at:], last=True) == WANTED


@given(st.text("<>a/\"'=! -", max_size=60), st.integers(1, 9))
def test_whatever_it_is_nothing_is_lost(text: str, size: int) -> None:
    data = f"{text}<a".encode()
    whole, pieces, sent = Page(lambda url: url), Page(lambda url: url), b""
    for start in range(0, len(data), size):
        sent += pieces.feed(data[start : start + size])
    assert whole.feed(data, last=True) == sent + pieces.feed(b"", last=True) == data


def test_a_tag_is_waited_for_no_longer_than_needed() -> None:
    page = Page(marked)
    assert page.feed(b"text <a hr") == b"text "
    assert page.feed(b"ef=/x") == b""
    assert page.feed(b"> more") == b"<a href=[/x]> more"


def test_a_tag_without_end_does_not_fill_the_memory() -> None:
    page, sent = Page(marked), 0
    for _ in range(100):
        sent += len(page.feed(b"<a href='" + b"x" * 10_000))
    assert sent > 900_000


# Each of these took time that grew with the square of its length.
PAGES = {
    "tags that do not end": b"<a ",
    "quotes that do not end": b"<a href='",
    "attributes": b"a=b ",
    "names without values": b"<a b c d e",
    "spaces": b"<a" + b" " * 30,
    "comments that do not end": b"<!-- ",
    "scripts that do not end": b"<script></scrip",
    "smaller than": b"<",
    "links": b'<a href="/x">',
}


@pytest.mark.parametrize("size", [16_384, 64])
@pytest.mark.parametrize("name", PAGES)
def test_time_grows_with_the_length(name: str, size: int) -> None:
    """Twice the page takes about twice the time, in large pieces and in small ones."""

    def make(length: int) -> bytes:
        return (b"<a " if name == "attributes" else b"") + PAGES[name] * (length // len(PAGES[name]))

    def take(data: bytes) -> None:
        page = Page(lambda url: led_back(url, PREFIX, HOST))
        for at in range(0, len(data), size):
            page.feed(data[at : at + size])
        page.feed(b"", last=True)

    assert growth(Input(name, make, take, start=20_000, largest=1 << 21)) <= MOST_GROWTH
