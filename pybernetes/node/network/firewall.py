"""The packet filter: traffic of pods is forwarded, and what leaves the cluster gets the node's address.

Nodes alone reach the overlay's port of a node: whoever sends packets there chooses what the packets inside are from. Nor does a pod
send with another's address, or to the loopback address of its node, whatever rights it has.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator

from pybernetes.lib.processes.commands import CommandError, MissingProgram, run
from pybernetes.node.network.plan import Network, Plan

PREFIX = "PYB-"  # of our chains
_MASQUERADE, _FORWARD = f"{PREFIX}MASQUERADE", f"{PREFIX}FORWARD"
_OVERLAY = f"inet {PREFIX}OVERLAY"  # a table of nftables: no chain of iptables comes after IPVS
_SPOOFED = f"inet {PREFIX}SPOOFED"
_REMOVAL = (f"add table {_SPOOFED}", f"delete table {_SPOOFED}")
_POD_LINKS = "veth*"  # how CNI plugins name this node's end of a pod's link
_AFTER_IPVS = 110  # at the hook input IPVS chooses at 99 what is behind a service
_MULTICAST = {4: "224.0.0.0/4", 6: "ff00::/8"}
_PROGRAM = {4: "iptables", 6: "ip6tables"}
_IP = {4: "ip", 6: "ip6"}
_COMMENT = "pybernetes pod network"


def rules(plan: Plan, version: int, *, masquerade: bool = True) -> str:
    """Return the input of iptables-restore for a family; our chains alone are replaced."""
    cluster = sorted(str(network) for network in plan.cluster if network.version == version)
    own = sorted(str(network) for network in plan.own.ranges if network.version == version)
    lines = ["*nat", f":{_MASQUERADE} - [0:0]", f":{_MASQUERADE}-OUT - [0:0]"]
    if masquerade:
        lines += [f"-A {_MASQUERADE} -s {pod_range} -j {_MASQUERADE}-OUT" for pod_range in own]
        lines += [
            f"-A {_MASQUERADE}-OUT -d {destination} -j RETURN"
            for destination in (*cluster, _MULTICAST[version])
        ]
        lines.append(f"-A {_MASQUERADE}-OUT -j MASQUERADE --random-fully")
    lines += ["COMMIT", "*filter", f":{_FORWARD} - [0:0]"]
    for pod_range in cluster:
        lines += [f"-A {_FORWARD} -s {pod_range} -j ACCEPT", f"-A {_FORWARD} -d {pod_range} -j ACCEPT"]
    return "\n".join([*lines, "COMMIT", ""])


def overlay_rules(plan: Plan) -> str:
    """Return the input of nft that keeps all but nodes from the overlay's port of every node, if there is an overlay.

    Those of pods have their node's address when they come to another one, so it is their own node that stops them. Packets are looked at after services have become what is behind them: those of IPVS at the hook output, or late at input.
    """
    lines = [f"add table {_OVERLAY}", f"delete table {_OVERLAY}"]
    overlay = plan.overlay
    if overlay is not None:
        nodes = sorted({str(remote) for _, remote in overlay.forwarding})
        ip, known = _IP[overlay.local.version], f"{{ {', '.join(nodes)} }}"
        others = f"{ip} daddr {known} counter drop" if nodes else ""
        strangers = f"{ip} saddr != {known} counter drop" if nodes else "counter drop"
        ours, from_pods = f"udp dport {overlay.port}", f'iifname "{_POD_LINKS}"'
        lines.append(f"add table {_OVERLAY}")
        for hook, priority, rule in (
            ("input", _AFTER_IPVS, f"{ours} {strangers}"),
            ("forward", "mangle", others and f"{from_pods} {ours} {others}"),
            ("output", "mangle", others and f"{ours} fib saddr type != local {others}"),
        ):
            if rule:
                lines.append(
                    f"add chain {_OVERLAY} {hook} {{ type filter hook {hook} priority {priority} ; policy accept ; }}"
                )
                lines.append(f"add rule {_OVERLAY} {hook} {rule}")
    return "\n".join([*lines, ""])


# The plugin portmap has the kernel take packets to 127.0.0.1 from the link of a pod with a hostPort, for their way back: what
# listens there for its own machine alone would be open to that pod. No honest packet comes by a link with such a destination.
_LOOPBACK = f'iifname "{_POD_LINKS}" ip daddr 127.0.0.0/8 counter drop'


def spoofing_rules(own: Iterable[Network]) -> Iterator[str]:
    """Yield rules for what comes in: a pod's packets have an address that leads back to its own link, and nobody else's have it."""
    back = "fib saddr . iif oif missing counter drop"
    yield f'iifname "{_POD_LINKS}" {back}'
    for network in own:
        yield f'iifname != "{_POD_LINKS}" {_IP[network.version]} saddr {network} {back}'


def spoofing_table(plan: Plan) -> str:
    """Return the input of nft that drops what has an address that is not the sender's."""
    return _incoming((_LOOPBACK, *spoofing_rules(plan.own.ranges)))


def _incoming(rules: Iterable[str]) -> str:
    lines = [*_REMOVAL, f"add table {_SPOOFED}"]
    lines.append(
        f"add chain {_SPOOFED} prerouting {{ type filter hook prerouting priority raw ; policy accept ; }}"
    )
    lines += [f"add rule {_SPOOFED} prerouting {rule}" for rule in rules]
    return "\n".join([*lines, ""])


def jumps() -> list[tuple[str, list[str]]]:
    """Return the rules of the kernel's own chains that jump to ours: table and rule.

    They come last, so that whoever refuses or rewrites packets is asked first.
    """
    match = ["-m", "comment", "--comment", _COMMENT, "-j"]
    return [
        ("nat", ["POSTROUTING", *match, _MASQUERADE]),
        ("filter", ["FORWARD", *match, _FORWARD]),
    ]


async def apply(plan: Plan, versions: Iterable[int], *, masquerade: bool = True) -> None:
    """Replace our chains and make sure that packets come to them."""
    await run("nft", "-f", "-", text=overlay_rules(plan) + spoofing_table(plan))
    for version in versions:
        program = _PROGRAM[version]
        text = rules(plan, version, masquerade=masquerade)
        await run(f"{program}-restore", "-w", "5", "--noflush", text=text)
        for table, rule in jumps():
            try:
                await run(program, "-w", "5", "-t", table, "-C", *rule)
            except CommandError:
                await run(program, "-w", "5", "-t", table, "-A", *rule)


async def apply_alone() -> None:
    """Make the one rule that a node needs which joins no others: on the host's own network links may be anybody's."""
    await run("nft", "-f", "-", text=_incoming((_LOOPBACK,)))


async def remove_alone() -> None:
    """Remove it."""
    with contextlib.suppress(MissingProgram):  # which can have made none
        await run("nft", "-f", "-", text="\n".join([*_REMOVAL, ""]))
