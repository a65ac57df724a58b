"""Load balancers on the host, for the host helper: what there is, held against the cluster's range, and made so."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import re
import subprocess
import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pybernetes.control_plane.cloud.local.machine import Balancer
from pybernetes.tools.local.network import balancer_rules

_PATIENCE = 10.0
_ALIVE = {"SYN_RECV", "ESTABLISHED", "FIN_WAIT", "CLOSE_WAIT"}  # the kernel's names of their states
_PROTOCOLS = ("TCP", "UDP", "SCTP")
_OWNER = re.compile(r"[0-9A-Za-z-]{1,64}\Z")
_LONGEST_AFFINITY = 86400


def read(asked: Mapping[str, Any], *node_ranges: str) -> Balancer:
    """Return the balancer that a question describes; ValueError, KeyError or TypeError if it cannot be one."""
    pools = {text: balancer_rules.pool(text) for text in node_ranges}
    own = next((text for text, pool in pools.items() if asked["address"] in pool), "")
    if not _OWNER.match(asked["owner"]) or not own:
        raise ValueError(f"{asked['address']!r} is no address for a load balancer of this cluster")
    network = ipaddress.ip_network(own)
    address = type(network.network_address)
    ports = []
    for protocol, port in asked["ports"]:
        if protocol not in _PROTOCOLS or type(port) is not int or not 0 < port < 65536:
            raise ValueError(f"{protocol}/{port} is no port")
        ports.append((protocol, port))
    nodes = []
    for text in asked["nodes"]:
        if not isinstance(text, str) or "%" in text:  # a scope may be any text
            raise ValueError(f"{text!r} is no address of a node")
        number = int(address(text)) - int(network.network_address)
        if not 2 <= number < balancer_rules.FIRST:
            raise ValueError(f"{text!r} is no address of a node")
        nodes.append(str(address(text)))
    if any("%" in text for text in asked["source_ranges"]):
        raise ValueError("a range has no scope")
    ranges = tuple(str(type(network)(text)) for text in asked["source_ranges"])
    seconds = asked["affinity_seconds"]
    if type(seconds) is not int or not 0 <= seconds <= _LONGEST_AFFINITY:
        raise ValueError(f"{seconds!r} is no time")
    return Balancer(
        asked["owner"], asked["address"], tuple(ports), tuple(dict.fromkeys(nodes)), ranges, seconds
    )


class HostBalancers:
    """The balancers of one cluster. ``state`` is a file that goes with the machine's rules when it is switched off."""

    def __init__(self, bridge: str, node_range: str, state: Path, node_range_v6: str = "") -> None:
        self._bridge, self._range, self._state = bridge, node_range, state
        self._range_v6 = node_range_v6
        self._ranges = [text for text in (node_range, node_range_v6) if text]
        self._lock = threading.Lock()
        self._balancers = self._load()

    def _load(self) -> dict[str, Balancer]:
        try:
            entries = json.loads(self._state.read_text())
        except (OSError, ValueError):
            return {}
        return {entry["address"]: read(entry, *self._ranges) for entry in entries}

    def _save(self) -> None:
        self._state.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        temporary = self._state.with_suffix(".new")
        temporary.write_text(json.dumps([asdict(balancer) for balancer in self._balancers.values()]))
        os.replace(temporary, self._state)

    def all(self) -> list[Mapping[str, Any]]:
        """Return all balancers, as JSON has them."""
        with self._lock:
            return [asdict(balancer) for balancer in self._balancers.values()]

    def restore(self) -> None:
        """Make the rules anew, since the bridge may be another."""
        with self._lock:
            if self._balancers:
                self._apply(())

    def restore_removed(self) -> bool:
        """Make the rules anew if somebody removed them; return whether that was so."""
        with self._lock:
            tables = _run("nft", "list", "tables").splitlines()
            if not self._balancers or f"table ip {self._bridge}" in tables:
                return False
            self._apply(())
            return True

    def change(self, asked: Mapping[str, Any]) -> None:
        """Make or change a balancer."""
        balancer = read(asked, *self._ranges)
        with self._lock:
            before = self._balancers.get(balancer.address)
            self._balancers[balancer.address] = balancer
            try:
                self._apply(())
            except OSError:
                if before is None:
                    del self._balancers[balancer.address]
                else:
                    self._balancers[balancer.address] = before
                raise
            self._save()
        if before is not None:
            self._let_go(balancer.address, set(before.nodes) - set(balancer.nodes))

    def remove(self, address: str) -> None:
        """Remove a balancer, with what is left of its connections."""
        with self._lock:
            if address in self._balancers:
                before = self._balancers.pop(address)
                self._apply((address,))
                self._save()
                self._let_go(address, before.nodes, everything=True)

    def _apply(self, stale: tuple[str, ...]) -> None:
        text = balancer_rules.script(
            self._bridge, self._bridge, self._range, self._balancers.values(), stale, self._range_v6
        )
        _run("nft", "-f", "-", text=text)
        self._neighbours(stale)

    def _neighbours(self, stale: Iterable[str]) -> None:
        """Let the machine believe that somebody has the balancers' addresses; the rules put a node in their place."""
        lines = [
            f"neighbour replace {address} lladdr {balancer_rules.NOBODY} dev {self._bridge} nud permanent"
            for address in self._balancers
        ]
        lines += [f"neighbour delete {address} dev {self._bridge}" for address in stale]
        _run("ip", "-force", "-batch", "-", text="\n".join(lines) + "\n", good=(0, 1))  # what is gone is gone

    def _let_go(self, address: str, nodes: Iterable[str], everything: bool = False) -> None:
        """Forget connections to nodes that have none of them answered: they are tried again, elsewhere.

        Those that are established stay until they end. What has no connections, as UDP, goes elsewhere at once.
        """
        for node in nodes:
            family = ("-f", _family(address))
            chosen = ("-D", *family, "-d", address, "-m", f"{balancer_rules.mark(node)}")
            for kind in (("-p", "udp"), ("-p", "tcp", *(() if everything else ("--state", "SYN_SENT")))):
                with contextlib.suppress(OSError):  # there were none
                    _run("conntrack", *chosen, *kind)


def connections(node: str) -> int:
    """Return how many connections load balancers of this machine hold with a node: those that both sides know and may use."""
    listed = ("conntrack", "-L", "-f", _family(node), "-p", "tcp", "-m", f"{balancer_rules.mark(node)}")
    with contextlib.suppress(OSError):
        return sum(line.split()[3] in _ALIVE for line in _run(*listed).splitlines())
    return 0


def _family(address: str) -> str:
    """Return how conntrack calls the family of an address."""
    return "ipv6" if ":" in address else "ipv4"


def remove_rules(bridge: str) -> None:
    """Remove all rules of a cluster."""
    _run("nft", "-f", "-", text=balancer_rules.removal(bridge))


def _run(*command: str, text: str | None = None, good: tuple[int, ...] = (0,)) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE, check=False, input=text
        )
    except subprocess.TimeoutExpired:
        raise OSError(f"{command[0]} did not end within {_PATIENCE:g} s") from None
    if done.returncode not in good:
        raise OSError(f"{command[0]}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout
