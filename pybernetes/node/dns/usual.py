"""The Corefiles that clusters begin with: of the cluster's name server, and of the cache on each node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pybernetes.node.dns import config, wire

NODE_LOCAL_ADDRESS = "169.254.20.10"  # upstream's


def cluster(
    domain: str,
    forward: str = "/etc/resolv.conf",
    stubs: Mapping[bytes, Iterable[config.Server]] | None = None,
) -> str:
    """Return what the name server of a cluster is told, as kubeadm has it; ``forward`` is empty if there is nobody to ask."""
    blocks = "".join(
        f"{wire.text(zone)}:53 {{\n    errors\n    cache 30\n    forward . {servers(listed)}\n}}\n"
        for zone, listed in (stubs or {}).items()
    )
    asked = f"    forward . {forward} {{\n       max_concurrent 1000\n    }}\n" if forward else ""
    return f"""\
.:53 {{
    errors
    health {{
       lameduck 5s
    }}
    ready
    kubernetes {domain} in-addr.arpa ip6.arpa {{
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }}
    prometheus :9153
{asked}    cache 30 {{
       disable success {domain}
       disable denial {domain}
    }}
    loop
    reload
    loadbalance
}}
{blocks}"""


def node_local(domain: str, service: str) -> str:
    """Return what the cache of a node is told: everything comes from the cluster's name server, over TCP."""

    def block(zone: str, cache: str, pages: str = "") -> str:
        return f"""\
{zone}:53 {{
    errors
    {cache}
    reload
    loop
    bind {NODE_LOCAL_ADDRESS}
    forward . {service} {{
        force_tcp
    }}
    prometheus {NODE_LOCAL_ADDRESS}:9253
{pages}}}
"""

    own = "cache {\n        success 9984 30\n        denial 9984 5\n    }"
    health = f"    health {NODE_LOCAL_ADDRESS}:8080\n"
    return block(domain, own, health) + "".join(
        block(zone, "cache 30") for zone in ("in-addr.arpa", "ip6.arpa", ".")
    )


def servers(listed: Iterable[config.Server]) -> str:
    """Return servers as words of a Corefile."""
    return " ".join(f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in listed)
