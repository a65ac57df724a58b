"""The kernel's connection tracking: forgets connections of UDP and SCTP whose target serves no more, and sets limits."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from pybernetes.api.resource import Object
from pybernetes.lib.flags import duration
from pybernetes.lib.processes.commands import CommandError, run
from pybernetes.node.proxy.service_port import STALE_PROTOCOLS, ServicePort

log = logging.getLogger(__name__)
_PAIR = re.compile(r"\b(src|dst|sport|dport)=(\S+)")
_SYSCTL = Path("/proc/sys/net/netfilter")
_AT_ONCE = 16


class Connection(NamedTuple):
    """A connection to a Service: where it was sent, and which target it was sent on to."""

    protocol: str
    address: str
    port: int
    target: str
    target_port: int


def parse(text: str) -> list[Connection]:
    """Return the connections that ``conntrack -L`` printed."""
    connections = []
    for line in text.splitlines():
        pairs = _PAIR.findall(line)
        if len(pairs) >= 8:
            first, second = dict(pairs[:4]), dict(pairs[4:8])
            connections.append(
                Connection(
                    line.split()[0], first["dst"], int(first["dport"]), second["src"], int(second["sport"])
                )
            )
    return connections


def stale_connections(
    connections: Iterable[Connection], service_ports: Iterable[ServicePort]
) -> Iterator[Connection]:
    """Yield the connections to a Service whose target serves no more."""
    by_address: dict[tuple[str, str, int], frozenset[tuple[str, int]]] = {}
    by_node_port: dict[tuple[str, int], frozenset[tuple[str, int]]] = {}
    for port in service_ports:
        if port.protocol not in STALE_PROTOCOLS:
            continue
        for address in (port.cluster_ip, *port.external_ips, *port.load_balancer_ips):
            by_address[port.protocol, address, port.port] = port.serving
        if port.node_port:
            by_node_port[port.protocol, port.node_port] = port.serving
    for connection in connections:
        protocol, address, number, *target = connection
        serving = by_address.get((protocol, address, number))
        if serving is None:
            serving = by_node_port.get((protocol, number))
            # It is known by its number alone: without a target, what is not sent elsewhere is somebody else's.
            if not serving and [address, number] == target:
                continue
        if serving is not None and tuple(target) not in serving:
            yield connection


async def forget_stale(service_ports: Iterable[ServicePort], family: int) -> int:
    """Delete the kernel's connections to targets that serve no more, and return how many there were."""
    name, ports, connections = "ipv4" if family == 4 else "ipv6", list(service_ports), set()
    try:
        for protocol in sorted({port.protocol for port in ports}.intersection(STALE_PROTOCOLS)):
            connections.update(parse(await run("conntrack", "-L", "-p", protocol, "-f", name)))
    except CommandError as error:
        log.error("stale connections stay: %s", error)
        return 0
    stale = list(stale_connections(connections, ports))
    for start in range(0, len(stale), _AT_ONCE):
        await asyncio.gather(*(_forget(connection, name) for connection in stale[start : start + _AT_ONCE]))
    return len(stale)


async def _forget(connection: Connection, family: str) -> None:
    # The program fails for a connection that has ended by itself.
    with contextlib.suppress(CommandError):
        await run(
            "conntrack", "-D", "-p", connection.protocol, "-f", family,
            "--orig-dst", connection.address, "--orig-port-dst", str(connection.port),
            "--reply-src", connection.target, "--reply-port-src", str(connection.target_port),
        )  # fmt: skip


def set_limits(settings: Object, cores: int | None = None) -> None:
    """Set the kernel's limits as far as this network namespace may."""
    timeouts = {
        "nf_conntrack_tcp_timeout_established": settings["tcpEstablishedTimeout"],
        "nf_conntrack_tcp_timeout_close_wait": settings["tcpCloseWaitTimeout"],
        "nf_conntrack_udp_timeout": settings["udpTimeout"],
        "nf_conntrack_udp_timeout_stream": settings["udpStreamTimeout"],
    }
    values = {name: int(duration(str(timeout))) for name, timeout in timeouts.items()}
    if settings["maxPerCore"]:
        values["nf_conntrack_max"] = max(
            settings["min"], settings["maxPerCore"] * (cores or os.cpu_count() or 1)
        )
    if settings["tcpBeLiberal"]:
        values["nf_conntrack_tcp_be_liberal"] = 1
    for name, value in values.items():
        if value:
            _write(name, value)


def _write(name: str, value: int) -> None:
    path = _SYSCTL / name
    try:
        current = int(path.read_text())
        # The limit of connections is the machine's: it is only ever raised.
        if current != value and not (name == "nf_conntrack_max" and current > value):
            path.write_text(str(value))
    except (OSError, ValueError) as error:
        log.debug("%s stays as it is: %s", path, error)
