"""Connections that the kernel remembers: UDP ones whose target serves no more are forgotten, limits are set."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pybernetes.lib.flags import duration
from pybernetes.node.proxy.commands import CommandError, run
from pybernetes.node.proxy.service_port import ServicePort, stale_connections

log = logging.getLogger(__name__)
Entry = tuple[str, int, str, int]
_PAIR = re.compile(r"\b(src|dst|sport|dport)=(\S+)")
_SYSCTL = Path("/proc/sys/net/netfilter")
_AT_ONCE = 16


def parse(text: str) -> list[Entry]:
    """Connections as ``conntrack -L`` prints them: where each was sent, and where it was sent on to."""
    found = []
    for line in text.splitlines():
        pairs = _PAIR.findall(line)
        if len(pairs) >= 8:
            first, second = dict(pairs[:4]), dict(pairs[4:8])
            found.append((first["dst"], int(first["dport"]), second["src"], int(second["sport"])))
    return found


async def forget_stale(portals: Iterable[ServicePort], family: int) -> int:
    """Has the kernel forget UDP connections to targets that serve no more; how many there were."""
    name = "ipv4" if family == 4 else "ipv6"
    try:
        entries = set(parse(await run("conntrack", "-L", "-p", "udp", "-f", name)))
    except CommandError as error:
        log.error("stale UDP connections stay: %s", error)
        return 0
    stale = list(stale_connections(entries, portals))
    for start in range(0, len(stale), _AT_ONCE):
        await asyncio.gather(*(_forget(each, name) for each in stale[start : start + _AT_ONCE]))
    return len(stale)


async def _forget(entry: Entry, family: str) -> None:
    address, port, target, target_port = entry
    # One that ended by itself meanwhile makes the program fail.
    with contextlib.suppress(CommandError):
        await run(
            "conntrack", "-D", "-p", "udp", "-f", family, "--orig-dst", address, "--orig-port-dst", str(port),
            "--reply-src", target, "--reply-port-src", str(target_port),
        )  # fmt: skip


def limit(settings: dict[str, Any], cores: int | None = None) -> None:
    """Sets the kernel's limits as far as this network namespace may."""
    wanted = {
        "nf_conntrack_tcp_timeout_established": settings["tcpEstablishedTimeout"],
        "nf_conntrack_tcp_timeout_close_wait": settings["tcpCloseWaitTimeout"],
        "nf_conntrack_udp_timeout": settings["udpTimeout"],
        "nf_conntrack_udp_timeout_stream": settings["udpStreamTimeout"],
    }
    values = {name: int(duration(str(each))) for name, each in wanted.items()}
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
        held = int(path.read_text())
        # The limit of connections is the machine's: it is raised only.
        if held != value and not (name == "nf_conntrack_max" and held > value):
            path.write_text(str(value))
    except (OSError, ValueError) as error:
        log.debug("%s stays as it is: %s", path, error)
