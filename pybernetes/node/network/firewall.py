"""The packet filter: traffic of pods is forwarded, and what leaves the cluster gets the node's address.

Pods do not reach the overlay's port of any node: whoever sends packets there chooses what the packets inside are from.
"""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.lib.commands import CommandError, run
from pybernetes.node.network.plan import Plan

PREFIX = "PYB-"  # of our chains
_MASQUERADE, _FORWARD, _OVERLAY = f"{PREFIX}MASQUERADE", f"{PREFIX}FORWARD", f"{PREFIX}OVERLAY"
_POD_LINKS = "veth+"  # how CNI plugins name this node's end of a pod's link
_MULTICAST = {4: "224.0.0.0/4", 6: "ff00::/8"}
_PROGRAM = {4: "iptables", 6: "ip6tables"}
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
    lines += ["COMMIT", "*mangle", f":{_OVERLAY} - [0:0]"]
    overlay = plan.overlay
    if overlay is not None and overlay.local.version == version:
        others = [f"-d {remote}" for remote in sorted({str(remote) for _, remote in overlay.forwarding})]
        lines.append(f"-A {_OVERLAY} -p udp ! --dport {overlay.port} -j RETURN")
        lines += [f"-A {_OVERLAY} {node} -j DROP" for node in ("-m addrtype --dst-type LOCAL", *others)]
    return "\n".join([*lines, "COMMIT", ""])


def jumps() -> list[tuple[str, list[str]]]:
    """Return the rules of the kernel's own chains that jump to ours: table and rule.

    They come last, so that whoever refuses or rewrites packets is asked first. What is for the overlay is dropped before
    anybody who filters could accept it, and after services have become what is behind them.
    """
    match = ["-m", "comment", "--comment", _COMMENT, "-j"]
    overlay = ["-i", _POD_LINKS, "-p", "udp", *match, _OVERLAY]
    return [
        ("nat", ["POSTROUTING", *match, _MASQUERADE]),
        ("filter", ["FORWARD", *match, _FORWARD]),
        ("mangle", ["INPUT", *overlay]),
        ("mangle", ["FORWARD", *overlay]),
    ]


async def apply(plan: Plan, versions: Iterable[int], *, masquerade: bool = True) -> None:
    """Replace our chains and make sure that packets come to them."""
    for version in versions:
        program = _PROGRAM[version]
        text = rules(plan, version, masquerade=masquerade)
        await run(f"{program}-restore", "-w", "5", "--noflush", text=text)
        for table, rule in jumps():
            try:
                await run(program, "-w", "5", "-t", table, "-C", *rule)
            except CommandError:
                await run(program, "-w", "5", "-t", table, "-A", *rule)
