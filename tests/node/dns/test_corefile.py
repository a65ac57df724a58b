"""Corefiles, as kubeadm writes them and as people change them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.node.dns import corefile

USUAL = """\
.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . 10.1.1.1 10.1.1.2:5353 {
       max_concurrent 1000
    }
    cache 30 {
       disable success cluster.local
    }
    loop
    reload
    loadbalance
}
corp.example:53 {  # what only the company knows
    errors
    forward . 10.9.9.9
}
"""


def test_the_usual_file() -> None:
    cluster, corp = corefile.parse(USUAL)
    assert (cluster.keys, corp.keys) == ([".:53"], ["corp.example:53"])
    (health,) = cluster.find("health")
    assert health.inner[0].words == ("lameduck", "5s") and health.inner[0].number == 4
    assert corp.find("forward")[0].arguments == (".", "10.9.9.9")


def test_snippets_quotes_and_variables() -> None:
    text = """(common) {
    errors
    log . "{proto} \\"x\\" # y"
}
a. b.:{$PORT} {
    import common
    whoami#no comment
}
"""
    (block,) = corefile.parse(text, {"PORT": "54"})
    assert block.keys == ["a.", "b.:54"]
    assert [directive.line.words for directive in block.directives] == [
        ("errors",), ("log", ".", '{proto} "x" # y'), ("whoami#no", "comment")
    ]  # fmt: skip


# Snippets that each import the next one three times; the last one has nothing in it.
_NAMES = "abcdefghijklmnopqrst"
BOMB = (
    "".join(f"({name}) {{\n" + f"import {chr(ord(name) + 1)}\n" * 3 + "}\n" for name in _NAMES)
    + "(u) {\n}\n. {\n import a\n}\n"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("}", "Corefile:1 - Syntax error: Unexpected token '}'"),
        (".:53 {\n kubernetes x {\n}\n", "Unexpected EOF"),
        ("hello", "Unexpected token 'hello', expecting '{'"),
        (". {\n log {\n class {\n }\n }\n}", "nested"),
        ('. {\n log "open\n}', "quote is not closed"),
        (". {\n import nothing\n}", "Could not import nothing"),
        ("(a) {\n import a\n}\n. {\n import a\n}", "maximum import depth"),
        (
            "(a) {\n import b\n import b\n}\n(b) {\n import a\n import a\n}\n. {\n import a\n}",
            "maximum import depth",
        ),
        ("(a) {\n}\n(a) {\n}", "redeclaration"),
        (BOMB, "the Corefile is too long"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(corefile.CorefileError, match=re.escape(message)):
        corefile.parse(text, {})


@given(st.text(alphabet=' \n{}()"#ab.:$%\\', max_size=200))
def test_anything_is_read_or_refused(text: str) -> None:
    try:
        corefile.parse(text, {})
    except corefile.CorefileError:
        pass
