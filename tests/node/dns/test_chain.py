"""Whole Corefiles: which are refused, in CoreDNS' words, and what the others answer."""

from __future__ import annotations

import re
import struct

import pytest

from pybernetes.node.dns import chain, wire
from pybernetes.node.dns.corefile import CorefileError
from tests.node.dns.chains import CLUSTER, answers, environment


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (". {\n magic\n}", "Corefile:2 - Error during parsing: Unknown directive 'magic'"),
        (". {\n route53\n}", "the plugin 'route53' is not built in here"),
        (".:x {\n errors\n}", "unable to normalize '.:x'"),
        (".: {\n errors\n}", "expecting data after last colon"),
        (".:65536 {\n errors\n}", "'.:65536' has no port"),
        (f".:{'9' * 5000} {{\n errors\n}}", "has no port"),
        ("tls://. {\n errors\n}", "the transport tls:// is not built in here"),
        (". {\n errors\n}\n. {\n errors\n}", "it is already defined"),
        (". {\n cache\n cache\n}", "plugin/cache: this plugin can only be used once per Server Block"),
        (". {\n forward .\n}", "plugin/forward: Corefile:2 - Error during parsing: Wrong argument count"),
        (". {\n forward . nobody\n}", "not an IP address or file"),
        (". {\n forward . 127.0.0.1 {\n policy best\n}\n}", "unknown policy 'best'"),
        (". {\n forward . 127.0.0.1 {\n failover NOERROR\n}\n}", "NoError cannot be used in failover"),
        (". {\n cache 0\n}", "cache TTL can not be zero or negative: 0"),
        (". {\n cache {\n servfail 10m\n}\n}", "caching SERVFAIL responses over 5 minutes is not permitted"),
        (". {\n cache {\n disable much\n}\n}", 'cache type for disable must be "success" or "denial"'),
        (". {\n kubernetes a {\n ttl many\n}\n}", "strconv.Atoi"),
        (". {\n kubernetes a {\n ttl 9000\n}\n}", "ttl must be in range [0, 3600]: 9000"),
        (". {\n kubernetes a {\n pods some\n}\n}", "wrong value for pods: some,  must be one of"),
        (". {\n kubernetes a {\n labels x\n}\n}", "'labels' is not built in here"),
        (". {\n errors {\n consolidate 5m (a\n}\n}", "missing closing )"),
        (". {\n log {\n class odd\n}\n}", "invalid Class: odd"),
        (". {\n reload 1s\n}", "interval value must be greater or equal to 2s"),
        (". {\n bufsize 9000\n}", "bufsize must be within 512 - 4096"),
        (". {\n health nowhere\n}", "missing port in address"),
        (". {\n loadbalance heavy\n}", "unknown policy: heavy"),
        ("", "there is no block"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(CorefileError, match=re.escape(message)):
        chain.build(text, environment())


@pytest.mark.parametrize(
    ("key", "port", "zone"),
    [
        ("example.org", 53, "example.org"),
        ("example.org:54", 54, "example.org"),
        (":54", 54, "."),
        ("10.0.0.0/8:54", 54, "10.in-addr.arpa"),
        ("fd00::/8", 53, "d.f.ip6.arpa"),  # no port, though there are colons
        ("fd00::/8:54", 54, "d.f.ip6.arpa"),
    ],
)
def test_zones_and_ports(key: str, port: int, zone: str) -> None:
    (place,) = chain.build(f"{key} {{\n errors\n}}", environment()).listening
    assert place.port == port and list(place.routes) == [wire.name(zone)]


@pytest.mark.parametrize(
    ("more", "is_fast"),
    [
        ("", True),
        ("errors\n cache\n loadbalance\n prometheus\n health\n ready\n reload\n forward . 127.0.0.1", True),
        ("log", False),
    ],
)
def test_only_plugins_that_want_to_see_them_stand_before_the_clusters_names(more: str, is_fast: bool) -> None:
    text = f". {{\n kubernetes cluster.local in-addr.arpa\n {more}\n}}"
    (place,) = chain.build(text, environment()).listening
    assert (place.lookup is not None) == is_fast


def test_a_block_for_a_part_of_the_clusters_names_is_asked_first() -> None:
    text = ". {\n kubernetes cluster.local in-addr.arpa\n}\nx.cluster.local {\n errors\n}"
    (place,) = chain.build(text, environment()).listening
    assert place.lookup is None and len(place.routes) == 2


async def test_the_block_with_the_longest_zone_answers() -> None:
    text = CLUSTER + "example.org {\n errors\n}\n"
    assert await answers(text, "web.default.svc.cluster.local") == (
        0,
        ["web.default.svc.cluster.local. 10.96.0.7"],
    )
    assert await answers(text, "www.example.org") == (wire.REFUSED, [])


@pytest.mark.parametrize(
    ("options", "name", "code"),
    [
        ("pods insecure", "10-1-2-3.default.pod.cluster.local", wire.NOERROR),
        ("pods disabled", "10-1-2-3.default.pod.cluster.local", wire.NXDOMAIN),
        ("", "10-1-2-3.default.pod.cluster.local", wire.NXDOMAIN),
        ("", "7.0.96.10.in-addr.arpa", wire.NOERROR),
        ("", "8.0.96.10.in-addr.arpa", wire.NXDOMAIN),
        ("fallthrough in-addr.arpa", "8.0.96.10.in-addr.arpa", wire.REFUSED),  # there is nobody behind
        ("fallthrough in-addr.arpa", "no.default.svc.cluster.local", wire.NXDOMAIN),
        ("fallthrough", "no.default.svc.cluster.local", wire.REFUSED),
    ],
)
async def test_what_the_clusters_names_can_be_told(options: str, name: str, code: int) -> None:
    text = f". {{\n kubernetes cluster.local in-addr.arpa {{\n {options}\n }}\n}}"
    assert (await answers(text, name, "PTR" if "arpa" in name else "A"))[0] == code
    # The way of those that are looked up first is the same.
    (place,) = chain.build(text, environment()).listening
    assert place.lookup is not None
    quick = place.lookup.missing(wire.name(name), struct.pack(">HH", wire.A, 1))
    assert (quick[1] if quick else wire.REFUSED) == code or name.startswith("7.")
