"""rewrite: questions become others, and answers come back as if nothing had happened."""

from __future__ import annotations

import re

import pytest

from pybernetes.node.dns import chain, wire
from pybernetes.node.dns.corefile import CorefileError
from pybernetes.node.dns.plugins.rewrite.matching import Matcher, plain_text
from tests.node.dns.chains import answers, environment

WEB = "web.default.svc.cluster.local"


def file(*rules: str) -> str:
    """Return a Corefile with rules before a cluster."""
    lines = "\n".join(f" rewrite {rule}" for rule in rules)
    return f". {{\n{lines}\n kubernetes cluster.local in-addr.arpa\n}}\n"


@pytest.mark.parametrize(
    ("rule", "asked", "owner"),
    [
        (f"name shop.example.com {WEB}", "shop.example.com", "shop.example.com."),
        (f"name exact shop.example.com {WEB}", "Shop.Example.com", "Shop.Example.com."),
        ("name suffix .shop. .default.svc.cluster.local.", "web.shop", f"{WEB}."),
        ("name suffix .shop. .default.svc.cluster.local. answer auto", "web.shop", "web.shop."),
        ("name prefix www. web.", "www.default.svc.cluster.local", f"{WEB}."),
        ("name substring www.default. web.default.", "www.default.svc.cluster.local", f"{WEB}."),
        (r"name regex (.*)-(default)\.shop {1}.{2}.svc.cluster.local", "web-default.shop", f"{WEB}."),
        (
            r"stop name regex (.*)-(default)\.shop {1}.{2}.svc.cluster.local answer name (.*)\.default\.svc.* {1}-default.shop",
            "web-default.shop",
            "web-default.shop.",
        ),
        (f"{{\n name exact shop. {WEB}\n }}", "shop", "shop."),
    ],
)
async def test_names(rule: str, asked: str, owner: str) -> None:
    assert await answers(file(rule), asked) == (wire.NOERROR, [f"{owner} 10.96.0.7"])


async def test_rules_that_continue_add_up() -> None:
    text = file(
        "continue name suffix .one. .two.", "name suffix .two. .default.svc.cluster.local. answer auto"
    )
    assert await answers(text, "web.one") == (wire.NOERROR, ["web.two. 10.96.0.7"])
    text = file("name suffix .one. .two.", "name suffix .two. .default.svc.cluster.local.")
    assert (await answers(text, "web.one"))[
        0
    ] == wire.REFUSED  # the first ended it, and nobody knows the rest


async def test_types_codes_and_values() -> None:
    assert (await answers(file("type AAAA A"), WEB, "AAAA"))[1] == [f"{WEB}. 10.96.0.7"]
    assert (await answers(file("rcode suffix cluster.local NXDOMAIN NOERROR"), "no." + WEB))[
        0
    ] == wire.NOERROR
    value = r"{ name suffix .arpa. .arpa. answer value (.*)\.default\.svc\.cluster\.local\. {1}.shop. }"
    text = file(value.replace("{ name", "{\n name").replace(". }", ".\n }"))
    assert (await answers(text, "7.0.96.10.in-addr.arpa", "PTR"))[1] == ["7.0.96.10.in-addr.arpa. web.shop."]


async def test_a_name_that_becomes_none_is_an_error_of_the_server() -> None:
    long = "name prefix a. " + ".".join(["x" * 60] * 4) + "."
    assert (await answers(file(long), "a." + "y" * 50 + ".example"))[0] == wire.SERVFAIL


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("", "no rule type specified for rewrite"),
        ("continue", "continue rule must begin with a rule type"),
        ("name a", "too few arguments for a name rule"),
        ("name fuzzy a b", "name rule supports only exact, prefix, suffix, substring, and regex name matching, received: fuzzy"),
        ("name regex (a b", "invalid regex matching pattern: (a"),
        ("name regex a {1}.b", "uses more subexpressions than its corresponding"),
        ("name regex " + "a" * 10001 + " b", "regex pattern too long: 10001 > 10000"),
        ("name exact a b answer", "invalid arguments for exact rule"),
        ("name suffix a b answer auto name c d", "cannot be combined"),
        ("type A", "type rules must have exactly two arguments"),
        ("class IN XX", "invalid class XX"),
        ("ttl example.com many", "invalid TTL 'many' for a ttl rule"),
        ("rcode example.com 1 77", "invalid rcode: 77"),
        ("edns0 nsid set", "edns0 rules are not built in here"),
        ("shape a b", 'invalid rule type "shape"'),
        ("answer name a b", "response rewrites must begin with a name rule"),
    ],
)  # fmt: skip
def test_what_is_refused(rule: str, message: str) -> None:
    with pytest.raises(CorefileError, match="plugin/rewrite: .*" + re.escape(message)):
        chain.build(file(rule), environment())


def test_expressions_that_take_others_forever_take_no_time() -> None:
    matcher = Matcher.of("regex", "(a+)+$", "b")
    assert matcher.changed("a" * 200 + "!") is None


@pytest.mark.parametrize("label", [b"a.b", b"a\\b", b"a b", b"\xff"])
def test_labels_that_read_as_something_else_are_left_alone(label: bytes) -> None:
    assert plain_text(bytes([len(label)]) + label + b"\0") is None
