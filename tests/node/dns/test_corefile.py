"""Corefiles, as kubeadm writes them and as people change them."""

from __future__ import annotations

import pytest

from pybernetes.node.dns import corefile, wire

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
    options = corefile.options(corefile.parse(USUAL))
    assert (options.zone, options.ttl, options.port) == ("cluster.local", 30, 53)
    assert options.nameservers == (("10.1.1.1", 53), ("10.1.1.2", 5353))
    assert options.http_ports == (8080, 8181, 9153)
    assert options.stubs == {wire.name("corp.example"): (("10.9.9.9", 53),)}
    assert not options.follow_config_map


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("}", "unexpected '}'"),
        (".:53 {\n kubernetes x {\n}\n", "not closed"),
        ("hello", "expected a block"),
        (".:53 {\n errors\n}", "no block has the plugin kubernetes"),
        (".:53 {\n kubernetes a\n erratic\n}", "Unknown directive 'erratic'"),
        (".:53 {\n kubernetes a {\n ttl many\n}\n}", "'ttl many' is not known"),
        (".:x {\n kubernetes a\n}", "has no port"),
        (".:53 {\n kubernetes a\n}\nb {\n errors\n}", "forwards to nobody"),
        (".:53 {\n kubernetes a\n forward . nobody\n}", "nobody"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        corefile.options(corefile.parse(text))
