"""Corefiles: read and made into chains of plugins, or refused; never anything else."""

from __future__ import annotations

from fuzz.engine.target import Target
from pybernetes.node.dns import chain
from pybernetes.node.dns.corefile import CorefileError
from pybernetes.node.dns.plugin import Environment


def run(data: bytes) -> None:
    """Make something of it; interfaces of the machine are left alone."""
    text = data.decode(errors="replace")
    if "bind" in text:
        return
    try:
        chain.build(text, Environment(files=frozenset()))
    except CorefileError:
        pass


TARGET = Target(
    run,
    seeds=(
        b". {\n errors\n cache 30 {\n success 1024 5 1\n prefetch 2 1m 20%\n }\n forward . 192.0.2.1 tls://192.0.2.2%x {\n policy sequential\n }\n}\n",
        b"(a) {\n log . \"{name}\"\n}\nx.y:53 10.0.0.0/8 {\n import a\n hosts {\n 1.2.3.4 b\n fallthrough\n }\n}\n",
        b". {\n rewrite name regex (.*) {1}.b answer auto\n rewrite ttl a 1-5\n acl {\n block type A net ::/0\n }\n autopath /x\n}\n",
    ),
    words=(b"{", b"}", b"\n", b"import", b"(a)", b"{$A}", b"\"", b"rewrite", b"forward", b"/64", b"-1", b"fallthrough"),
    largest=1 << 16,
    per_byte=50e-6,
)  # fmt: skip
