"""Which servers to ask about names outside of the cluster: from the ConfigMap kube-system/kube-dns, or this machine's.

The keys are those of upstream's kube-dns: ``upstreamNameservers`` is a JSON list of addresses, ``stubDomains`` a JSON
object of domains with lists of addresses. An address may have a port behind a colon (``[::1]:53`` for IPv6).
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pybernetes.node.dns import wire

NAME, NAMESPACE = "kube-dns", "kube-system"
Server = tuple[str, int]
_PORT = 53


@dataclass(frozen=True, slots=True)
class Configuration:
    """Servers for everything, and others for some domains."""

    upstream: tuple[Server, ...] = ()
    stubs: Mapping[bytes, tuple[Server, ...]] = field(default_factory=dict)

    def servers(self, name: bytes) -> tuple[Server, ...]:
        """Return the servers to ask about a name: those of the longest domain that matches."""
        stubs = self.stubs
        if stubs:
            at = 0
            while name[at:]:
                servers = stubs.get(name[at:])
                if servers is not None:
                    return servers
                if not name[at]:
                    break
                at += 1 + name[at]
        return self.upstream


def server(text: str, default: int = _PORT) -> Server:
    """Return the address and port of a text that may leave the port out."""
    host, port = text.strip(), default
    if host.startswith("["):
        host, _, rest = host[1:].partition("]")
        port = int(rest[1:]) if rest.startswith(":") else default
    elif host.count(":") == 1:
        host, _, rest = host.partition(":")
        port = int(rest)
    address = ipaddress.ip_address(host)
    if not 0 < port < 65536:
        raise ValueError(f"{text!r}: {port} is no port")
    return str(address), port


def parse(data: Mapping[str, str], fallback: tuple[Server, ...] = ()) -> Configuration:
    """Return the configuration of a ConfigMap's data; ValueError names the key that is wrong."""
    upstream, stubs = fallback, {}
    text = data.get("upstreamNameservers")
    if text:
        try:
            upstream = tuple(server(address) for address in json.loads(text))
        except (ValueError, AttributeError, TypeError) as error:
            raise ValueError(f"upstreamNameservers: {error}") from None
    text = data.get("stubDomains")
    if text:
        try:
            for domain, servers in json.loads(text).items():
                stubs[wire.name(domain)] = tuple(server(address) for address in servers)
        except (ValueError, AttributeError, TypeError) as error:
            raise ValueError(f"stubDomains: {error}") from None
    return Configuration(upstream, stubs)


def of_machine(path: Path = Path("/etc/resolv.conf")) -> tuple[Server, ...]:
    """Return the name servers that this machine uses itself."""
    try:
        return of_text(path.read_text())
    except OSError:
        return ()


def of_text(text: str) -> tuple[Server, ...]:
    """Return the name servers that a resolv.conf names."""
    servers = []
    for line in text.splitlines():
        words = line.split()
        if len(words) > 1 and words[0] == "nameserver":
            try:
                servers.append(server(words[1].partition("%")[0]))
            except ValueError:
                continue
    return tuple(servers)
