"""A node on the host's own network: what it needs there, and what has to go with it."""

from __future__ import annotations

import asyncio
import re
import subprocess
from collections.abc import Iterator

from pybernetes.lib.network.network import default_address
from pybernetes.tools.local.network import network
from pybernetes.tools.local.settings import Settings

# How the CNI plugins name their chains, and the comment with the name of our network.
_OWN_CHAIN = re.compile(r"CNI-(DN-)?[0-9a-f]{16,}$")
_OURS = r"name: \"pybernetes\""
_SHARED = "CNI-HOSTPORT-"


def prepare(settings: Settings) -> None:
    """Keep packets to pods, services and load balancers on the machine, even where no rule handles them."""
    network.run("ip", "route", "replace", "unreachable", settings.pod_range, "metric", network.LAST_METRIC)
    network.keep_services_inside("", [settings.service_range, settings.node_range], [default_address()])


def clear(settings: Settings) -> None:
    """Remove routes, links and rules; kube-proxy's too, in case it ended without doing so."""
    from pybernetes.node.network import firewall
    from pybernetes.node.network.policy import policies
    from pybernetes.node.proxy import proxy_server

    for command in (
        ["ip", "route", "delete", "unreachable", settings.pod_range, "metric", network.LAST_METRIC],
        ["ip", "link", "delete", network.SINK],
    ):
        subprocess.run(command, capture_output=True)
    asyncio.run(proxy_server.cleanup())
    asyncio.run(policies.cleanup())
    asyncio.run(firewall.remove_alone())
    text = "\n".join(["*nat", *removal(network.run("iptables-save", "-t", "nat")), "COMMIT", ""])
    network.run("iptables-restore", "-w", "5", "--noflush", text=text)


def removal(saved: str) -> Iterator[str]:
    """Yield the input of iptables-restore that removes what is left of our pods from the table nat.

    Chains that all networks share go when no network uses them; the plugins make them again.
    """
    rules = [line.removeprefix("-A ") for line in saved.splitlines() if line.startswith("-A ")]
    ours = {rule.split()[-1] for rule in rules if _OURS in rule and _OWN_CHAIN.match(rule.split()[-1])}
    left = [rule for rule in rules if rule.split()[0] not in ours]
    gone = [rule for rule in left if rule.split()[-1] in ours]
    chains = {line[1:].split()[0] for line in saved.splitlines() if line.startswith(f":{_SHARED}")}
    if not any(rule.startswith(f"{_SHARED}DNAT ") for rule in left if rule not in gone):
        gone += [rule for rule in left if _SHARED in rule and rule not in gone]
        ours |= chains
    yield from (f"-D {rule}" for rule in gone)
    yield from (f"-F {chain}" for chain in sorted(ours))
    yield from (f"-X {chain}" for chain in sorted(ours))
