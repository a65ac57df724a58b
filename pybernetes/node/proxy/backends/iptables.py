"""The mode iptables: NAT by chains of rules; one of a Service's targets is picked at random."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from pybernetes.node.proxy.backend import Settings, SyncError, node_port_ips, own_addresses
from pybernetes.node.proxy.commands import CommandError, run
from pybernetes.node.proxy.model import Portal, Target
from pybernetes.node.proxy.tracker import Change

log = logging.getLogger(__name__)
SharedChain = tuple[str, str]  # table and chain

SERVICES: SharedChain = ("nat", "KUBE-SERVICES")
NODE_PORTS: SharedChain = ("nat", "KUBE-NODEPORTS")
HAIRPIN: SharedChain = ("nat", "KUBE-HAIRPIN")
REFUSED: SharedChain = ("filter", "KUBE-SERVICES")
REFUSED_OUTSIDE: SharedChain = ("filter", "KUBE-EXTERNAL-SERVICES")
FIREWALL: SharedChain = ("filter", "KUBE-PROXY-FIREWALL")
HEALTH: SharedChain = ("filter", "KUBE-NODEPORTS")
SHARED = (SERVICES, NODE_PORTS, HAIRPIN, REFUSED, REFUSED_OUTSIDE, FIREWALL, HEALTH)
MARK = "KUBE-MARK-MASQ"

# Where our chains are entered: table, chain of the kernel, condition, our chain, what it is for.
_NEW = "-m conntrack --ctstate NEW "
JUMPS = (
    ("filter", "INPUT", _NEW, "KUBE-EXTERNAL-SERVICES", "kubernetes externally-visible service portals"),
    ("filter", "FORWARD", _NEW, "KUBE-EXTERNAL-SERVICES", "kubernetes externally-visible service portals"),
    ("filter", "INPUT", "", "KUBE-NODEPORTS", "kubernetes health check service ports"),
    ("filter", "FORWARD", _NEW, "KUBE-SERVICES", "kubernetes service portals"),
    ("filter", "OUTPUT", _NEW, "KUBE-SERVICES", "kubernetes service portals"),
    ("filter", "FORWARD", "", "KUBE-FORWARD", "kubernetes forwarding rules"),
    ("filter", "INPUT", _NEW, "KUBE-PROXY-FIREWALL", "kubernetes load balancer firewall"),
    ("filter", "OUTPUT", _NEW, "KUBE-PROXY-FIREWALL", "kubernetes load balancer firewall"),
    ("filter", "FORWARD", _NEW, "KUBE-PROXY-FIREWALL", "kubernetes load balancer firewall"),
    ("filter", "INPUT", "", "KUBE-FIREWALL", ""),
    ("filter", "OUTPUT", "", "KUBE-FIREWALL", ""),
    ("nat", "OUTPUT", "", "KUBE-SERVICES", "kubernetes service portals"),
    ("nat", "PREROUTING", "", "KUBE-SERVICES", "kubernetes service portals"),
    ("nat", "POSTROUTING", "", "KUBE-POSTROUTING", "kubernetes postrouting rules"),
)
_OWN_CHAIN = re.compile(r"KUBE-(SVC|SVL|EXT|FW|SEP)-[A-Z0-9]{16}$")
# The time that iptables-nft takes grows with the square of the chains in one run.
_CHAINS_AT_ONCE = 500
# Up to so many rules of a shared chain are put in and taken out one by one; beyond, the chain is written anew.
_SINGLE_RULES = 200


class Rules(NamedTuple):
    """What one portal needs: chains of its own in the table nat, lines in shared chains, pods that reach themselves."""

    own: dict[str, tuple[str, ...]]
    shared: dict[SharedChain, tuple[str, ...]]
    hairpins: tuple[str, ...]


def chain_name(prefix: str, *parts: str) -> str:
    """A name that fits into the kernel's limit, made as upstream makes it."""
    digest = hashlib.sha256("".join(parts).encode()).digest()
    return f"KUBE-{prefix}-{base64.b32encode(digest)[:16].decode()}"


@lru_cache(maxsize=4096)
def _probability(count: int) -> str:
    return f"{1 / count:.10f}"


# How traffic of one policy goes on: by a portal, the policy's targets and whether it is Local.
Spread = Callable[[Portal, tuple[Target, ...], bool], list[str]]


def rules(portal: Portal, settings: Settings, spread: Spread | None = None) -> Rules:
    """The rules of one portal. Whoever has another way to ``spread`` traffic sees to affinity and hairpins too."""
    own: dict[str, tuple[str, ...]] = {}
    shared: dict[SharedChain, list[str]] = {}
    name, protocol = portal.name, portal.protocol
    cluster, local, external, firewall = (
        chain_name(prefix, name, protocol) for prefix in ("SVC", "SVL", "EXT", "FW")
    )

    def capture(chain: SharedChain, address: str, comment: str, target: str) -> None:
        shared.setdefault(chain, []).append(
            f'-d {address} -p {protocol} -m comment --comment "{comment}" -m {protocol} --dport {portal.port} -j {target}'
        )

    refusal = "REJECT" if not portal.exists else "DROP"
    lack = f"{name} has no endpoints" if not portal.exists else f"{name} has no local endpoints"
    guarded = bool(portal.exists and portal.load_balancer_ips and portal.source_ranges)
    if portal.internal_targets:
        capture(
            SERVICES, portal.cluster_ip, f"{name} cluster IP", local if portal.internal_local else cluster
        )
    else:
        capture(REFUSED, portal.cluster_ip, lack, refusal)
    for addresses, what, entry in (
        (portal.external_ips, "external IP", external),
        (portal.load_balancer_ips, "loadbalancer IP", firewall if guarded else external),
    ):
        for address in addresses:
            if portal.exists:
                capture(SERVICES, address, f"{name} {what}", entry)
            if not portal.external_targets:
                capture(REFUSED_OUTSIDE, address, lack, refusal)
    if guarded:
        for address in portal.load_balancer_ips:
            capture(FIREWALL, address, f"{name} traffic not accepted by {firewall}", "DROP")
    if portal.node_port:
        match = f'-p {protocol} -m comment --comment "{{}}" -m {protocol} --dport {portal.node_port}'
        if portal.exists:
            shared[NODE_PORTS] = [f"{match.format(name)} -j {external}"]
        if not portal.external_targets:
            shared.setdefault(REFUSED_OUTSIDE, []).append(
                f"{match.format(lack)} -m addrtype --dst-type LOCAL -j {refusal}"
            )
    if portal.health_check_port:
        comment = f"{name} health check node port"
        shared[HEALTH] = [
            f'-p tcp -m comment --comment "{comment}" -m tcp --dport {portal.health_check_port} -j ACCEPT'
        ]

    if portal.exists and portal.external:
        own[external] = _external_chain(portal, settings, cluster, local)
    if guarded:
        own[firewall] = _firewall_chain(portal, settings, external)
    masquerade = _masquerade(portal, settings)
    for chain, targets, internal in (
        (cluster, portal.cluster, not portal.internal_local),
        (local, portal.local, portal.internal_local),
    ):
        if targets:
            head = masquerade if internal else ()
            lines = spread(portal, targets, chain == local) if spread else _spread(portal, targets)
            own[chain] = (*head, *lines)
            if spread:
                # Its own ports are for traffic that was sent on to them, not for callers.
                port = lines[-1].rpartition(" ")[2]
                shared.setdefault(REFUSED_OUTSIDE, []).append(
                    f"-p {protocol} -m {protocol} --dport {port} -m conntrack ! --ctstate DNAT -j REJECT"
                )
    if portal.affinity_seconds and not spread:
        for target in portal.reachable:
            chain = chain_name("SEP", name, protocol, str(target))
            own[chain] = (
                f"-p {protocol} -m recent --name {chain} --set -m {protocol} -j DNAT --to-destination {target}",
            )
    hairpins = () if spread else tuple(dict.fromkeys(each.ip for each in portal.reachable if each.local))
    return Rules(own, {chain: tuple(lines) for chain, lines in shared.items()}, hairpins)


def _spread(portal: Portal, targets: tuple[Target, ...]) -> list[str]:
    """One target at random; with affinity, the one that a client had before."""
    protocol, count = portal.protocol, len(targets)
    lines = []
    if portal.affinity_seconds:
        jumps = [f"-j {chain_name('SEP', portal.name, protocol, str(each))}" for each in targets]
        lines = [
            f"-m recent --name {jump[3:]} --rcheck --seconds {portal.affinity_seconds} --reap {jump}"
            for jump in jumps
        ]
    else:
        jumps = [f"-p {protocol} -m {protocol} -j DNAT --to-destination {each}" for each in targets]
    for position, jump in enumerate(jumps):
        chance = (
            f"-m statistic --mode random --probability {_probability(count - position)} "
            if position < count - 1
            else ""
        )
        match, _, action = jump.rpartition("-j ")
        lines.append(f"{match}{chance}-j {action}")
    return lines


def _masquerade(portal: Portal, settings: Settings) -> tuple[str, ...]:
    """Traffic to the cluster address that comes from elsewhere must come back by this node."""
    if settings.masquerade_all:
        match = ""
    elif settings.local.known(portal.family):
        match = _not_local(settings, portal.family)
    else:
        return ()
    where = f"-d {portal.cluster_ip} -p {portal.protocol} -m {portal.protocol} --dport {portal.port}"
    return (f'{match}{where} -m comment --comment "{portal.name} cluster IP" -j {MARK}',)


def _local(settings: Settings, family: int) -> str:
    if settings.local.interface:
        return f"-i {settings.local.interface} "
    return f"-s {settings.local.range(family)} "


def _not_local(settings: Settings, family: int) -> str:
    return f"! {_local(settings, family)}"


def _external_chain(portal: Portal, settings: Settings, cluster: str, local: str) -> tuple[str, ...]:
    """Traffic from outside; with the policy Local, that of this node and its pods goes anywhere still."""
    comment = f'-m comment --comment "{{}} {portal.name} external destinations"'
    if not portal.external_local:
        return (f"{comment.format('masquerade traffic for')} -j {MARK}", f"-j {cluster}")
    lines = []
    if portal.cluster:
        if settings.local.known(portal.family):
            source = _local(settings, portal.family)
            lines.append(f"{source}{comment.format('pod traffic for')} -j {cluster}")
        own = "-m addrtype --src-type LOCAL"
        lines.append(f"{comment.format('masquerade LOCAL traffic for')} {own} -j {MARK}")
        lines.append(f"{comment.format('route LOCAL traffic for')} {own} -j {cluster}")
    if portal.local:
        lines.append(f"-j {local}")
    return tuple(lines)


def _firewall_chain(portal: Portal, settings: Settings, external: str) -> tuple[str, ...]:
    """Lets sources in that may come in; the others fall through and are dropped in KUBE-PROXY-FIREWALL."""
    import ipaddress

    comment = f'-m comment --comment "{portal.name} loadbalancer IP"'
    lines = [f"-s {each} {comment} -j {external}" for each in portal.source_ranges]
    own = settings.node_address(portal.family)
    if own and any(ipaddress.ip_address(own) in ipaddress.ip_network(each) for each in portal.source_ranges):
        # Where the address is also one of the node's own, its packets carry it as their source.
        lines += [f"-s {each} {comment} -j {external}" for each in portal.load_balancer_ips]
    return tuple(lines)


def fixed_chains(settings: Settings, family: int) -> dict[SharedChain, tuple[str, ...]]:
    """The chains that no portal has a part in."""
    mark = settings.mark
    forward = [
        f'-m comment --comment "kubernetes forwarding rules" -m mark --mark {mark}/{mark} -j ACCEPT',
        '-m comment --comment "kubernetes forwarding conntrack rule" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT',
    ]
    if not settings.tcp_be_liberal:
        forward.insert(0, "-m conntrack --ctstate INVALID -j DROP")
    martians: tuple[str, ...] = ()
    if family == 4 and settings.localhost_node_ports:
        martians = (
            '! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment "block incoming localnet connections" '
            "-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP",
        )
    return {
        ("filter", "KUBE-FORWARD"): tuple(forward),
        ("filter", "KUBE-FIREWALL"): martians,
        ("nat", MARK): (f"-j MARK --or-mark {mark}",),
        ("nat", "KUBE-POSTROUTING"): (
            f"-m conntrack --ctstate DNAT -j {HAIRPIN[1]}",
            f"-m mark ! --mark {mark}/{mark} -j RETURN",
            f"-j MARK --xor-mark {mark}",
            '-m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully',
        ),
    }


def node_port_entries(settings: Settings, family: int, own: Sequence[str]) -> list[str]:
    """The end of KUBE-SERVICES: what is not for a Service's address may be for a node port."""
    comment = (
        '-m comment --comment "kubernetes service nodeports; NOTE: this must be the last rule in this chain"'
    )
    addresses = node_port_ips(settings.node_port_addresses or ("all",), settings.node, family, own)
    loopback = family == 4 and settings.localhost_node_ports
    if addresses is None:
        but = "" if loopback else f"! -d {'127.0.0.0/8' if family == 4 else '::1/128'} "
        return [f"{but}{comment} -m addrtype --dst-type LOCAL -j {NODE_PORTS[1]}"]
    return [
        f"-d {each} {comment} -j {NODE_PORTS[1]}"
        for each in addresses
        if loopback or not (each.startswith("127.") or each == "::1")
    ]


class Iptables:
    """The mode for one family: remembers what it wrote and writes what differs."""

    def __init__(self, settings: Settings, family: int, spread: Spread | None = None) -> None:
        self.settings, self.family, self._spread = settings, family, spread
        self._last: dict[str, int] = {}  # rules that the last sync wrote, by table; nothing after a full one
        self._rules: dict[tuple[str, str, str, int], Rules] = {}
        self._hairpins: Counter[str] = Counter()
        self._tail: list[str] = []

    @property
    def _program(self) -> str:
        return "iptables" if self.family == 4 else "ip6tables"

    async def close(self) -> None:
        """Nothing of it runs in this process."""

    # -- everything --------------------------------------------------------------------------------------

    async def resync(self, portals: Iterable[Portal]) -> None:
        """Makes the kernel match: chains of Services first, then those that lead to them."""
        self._rules = {each.key: rules(each, self.settings, self._spread) for each in portals}
        self._hairpins = Counter(ip for each in self._rules.values() for ip in each.hairpins)
        self._tail = node_port_entries(self.settings, self.family, await own_addresses())
        try:
            saved = await run(f"{self._program}-save")
            own = {chain: lines for each in self._rules.values() for chain, lines in each.own.items()}
            mark = fixed_chains(self.settings, self.family)["nat", MARK]
            batch: dict[str, tuple[str, ...]] = {MARK: mark}
            for position, each in enumerate(self._rules.values(), 1):
                batch.update(each.own)
                if len(batch) > _CHAINS_AT_ONCE or position == len(self._rules):
                    await self._restore(batch)
                    batch = {MARK: mark}
            await self._write_shared(saved, own)
        except CommandError as error:
            raise SyncError(str(error)) from None
        self._allow_localhost()
        self._last = {}

    async def _write_shared(self, saved: str, own: dict[str, tuple[str, ...]]) -> None:
        fixed = fixed_chains(self.settings, self.family)
        whole = {chain: self._lines(chain) for chain in SHARED}
        present = _chains(saved)
        for table in ("filter", "nat"):
            chains = {each: lines for each, lines in (*fixed.items(), *whole.items()) if each[0] == table}
            stale = [each for each in present.get(table, ()) if _OWN_CHAIN.match(each) and each not in own]
            text = [f"*{table}"]
            text += [f":{name} - [0:0]" for _, name in chains]
            text += [f":{name} - [0:0]" for name in stale]
            for (_, name), lines in chains.items():
                text += [f"-A {name} {line}" for line in lines]
            for each in JUMPS:
                if each[0] == table and not _has_jump(saved, each):
                    text.append(f"-I {_jump(each)}")
            text += [f"-X {name}" for name in stale]
            await run(
                f"{self._program}-restore", "--noflush", "-w", "5", text="\n".join([*text, "COMMIT", ""])
            )

    def _lines(self, chain: SharedChain) -> list[str]:
        if chain == HAIRPIN:
            return [_hairpin(ip) for ip in self._hairpins]
        lines = [line for each in self._rules.values() for line in each.shared.get(chain, ())]
        return [*lines, *self._tail] if chain == SERVICES else lines

    async def _restore(self, chains: dict[str, tuple[str, ...]]) -> None:
        """Writes whole chains of the table nat, which lead to no others but among themselves."""
        text = ["*nat", *(f":{name} - [0:0]" for name in chains)]
        text += [f"-A {name} {line}" for name, lines in chains.items() for line in lines]
        await run(f"{self._program}-restore", "--noflush", "-w", "5", text="\n".join([*text, "COMMIT", ""]))

    def _allow_localhost(self) -> None:
        if self.family == 4 and self.settings.localhost_node_ports:
            with suppress(OSError):
                Path("/proc/sys/net/ipv4/conf/all/route_localnet").write_text("1")

    # -- what changed ------------------------------------------------------------------------------------

    async def sync(self, changes: Sequence[Change]) -> None:
        """Writes the chains that changed, and the lines of shared chains that did."""
        text = self.difference(changes)
        if text:
            try:
                await run(f"{self._program}-restore", "--noflush", "-w", "5", text=text)
            except CommandError as error:
                raise SyncError(str(error)) from None

    def difference(self, changes: Sequence[Change]) -> str:
        """What iptables-restore has to read for changes, which are then taken for done."""
        written: dict[str, tuple[str, ...]] = {}
        removed: dict[str, None] = {}
        gone: dict[SharedChain, list[str]] = {}
        new: dict[SharedChain, list[str]] = {}
        hairpins: Counter[str] = Counter()
        for change in changes:
            key = (change.new or change.old).key  # type: ignore[union-attr]
            before = self._rules.pop(key, Rules({}, {}, ()))
            after = (
                rules(change.new, self.settings, self._spread)
                if change.new is not None
                else Rules({}, {}, ())
            )
            if change.new is not None:
                self._rules[key] = after
            for name, lines in after.own.items():
                if before.own.get(name) != lines:
                    written[name] = lines
            removed.update((name, None) for name in before.own if name not in after.own)
            for chain in {**before.shared, **after.shared}:
                old_lines, new_lines = before.shared.get(chain, ()), after.shared.get(chain, ())
                gone.setdefault(chain, []).extend(each for each in old_lines if each not in new_lines)
                new.setdefault(chain, []).extend(each for each in new_lines if each not in old_lines)
            hairpins.update(after.hairpins)
            hairpins.subtract(before.hairpins)
        for ip, count in hairpins.items():
            had = self._hairpins[ip] > 0
            self._hairpins[ip] += count
            if self._hairpins[ip] <= 0:
                del self._hairpins[ip]
            if had != (ip in self._hairpins):
                (gone if had else new).setdefault(HAIRPIN, []).append(_hairpin(ip))
        # A name that one portal let go and another took stays.
        gone_chains = [name for name in removed if name not in written]
        return self._text(written, gone_chains, gone, new)

    def _text(
        self,
        written: dict[str, tuple[str, ...]],
        removed: list[str],
        gone: dict[SharedChain, list[str]],
        new: dict[SharedChain, list[str]],
    ) -> str:
        text: list[str] = []
        for table in ("filter", "nat"):
            touched = [chain for chain in SHARED if chain[0] == table and (gone.get(chain) or new.get(chain))]
            anew = [chain for chain in touched
                    if len(gone.get(chain, ())) + len(new.get(chain, ())) > _SINGLE_RULES]  # fmt: skip
            own = table == "nat"
            head = [f":{name} - [0:0]" for _, name in anew]
            body: list[str] = []
            if own:
                head += [f":{name} - [0:0]" for name in (*written, *removed)]
                body += [f"-A {name} {line}" for name, lines in written.items() for line in lines]
            for chain in touched:
                if chain in anew:
                    body += [f"-A {chain[1]} {line}" for line in self._lines(chain)]
                else:
                    # New lines come first: an address that goes from one Service to another is never without.
                    body += [f"-I {chain[1]} {line}" for line in new.get(chain, ())]
                    body += [f"-D {chain[1]} {line}" for line in gone.get(chain, ())]
            if own:
                body += [f"-X {name}" for name in removed]
            if head or body:
                text += [f"*{table}", *head, *body, "COMMIT"]
            self._last[table] = len(body)
        return "\n".join([*text, ""]) if text else ""

    def figures(self) -> dict[tuple[str, ...], float]:
        """Upstream's metrics of this mode: how many rules there are, and how many the last sync wrote."""
        own = sum(len(lines) for each in self._rules.values() for lines in each.own.values())
        totals = {"filter": 0, "nat": own}
        for each in self._rules.values():
            for (table, _), lines in each.shared.items():
                totals[table] += len(lines)
        found: dict[tuple[str, ...], float] = {}
        for table, total in totals.items():
            found["iptables_total", table] = total
            found["iptables_last", table] = self._last.get(table, total)
        return found


def _hairpin(ip: str) -> str:
    """A pod that reaches itself by a Service would answer itself directly without this."""
    return f"-s {ip} -d {ip} -j MASQUERADE --random-fully"


def _chains(saved: str) -> dict[str, list[str]]:
    """Names of chains by table, of what iptables-save printed."""
    found: dict[str, list[str]] = {}
    table = ""
    for line in saved.splitlines():
        if line.startswith("*"):
            table = line[1:]
        elif line.startswith(":"):
            found.setdefault(table, []).append(line[1:].split(" ", 1)[0])
    return found


def _jump(jump: tuple[str, str, str, str, str]) -> str:
    _, base, condition, chain, comment = jump
    said = f'-m comment --comment "{comment}" ' if comment else ""
    return f"{base} {condition}{said}-j {chain}"


def _has_jump(saved: str, jump: tuple[str, str, str, str, str]) -> bool:
    table, base, _, chain, _ = jump
    part = saved.partition(f"*{table}\n")[2].partition("\nCOMMIT")[0]
    return re.search(rf"^-A {base} .*-j {chain}$", part, re.MULTILINE) is not None


class Mode:
    """The mode as ``--proxy-mode=iptables`` chooses it."""

    def __call__(self, settings: Settings, family: int) -> Iptables:
        return Iptables(settings, family)

    async def cleanup(self) -> None:
        """Removes the jumps to our chains, and our chains."""
        await asyncio.gather(*(_clean(program) for program in ("iptables", "ip6tables")))


async def _clean(program: str) -> None:
    try:
        saved = await run(f"{program}-save")
    except CommandError as error:
        log.debug("nothing to clean: %s", error)
        return
    present = _chains(saved)
    for table in ("filter", "nat"):
        ours = {chain for each, _, _, chain, _ in JUMPS if each == table}
        ours |= {name for each, name in SHARED if each == table}
        ours.add(MARK)
        found = [name for name in present.get(table, ()) if name in ours or _OWN_CHAIN.match(name)]
        part = saved.partition(f"*{table}\n")[2].partition("\nCOMMIT")[0]
        jumps = [line for line in part.splitlines()
                 if line.startswith("-A ") and not line.startswith("-A KUBE-")
                 and line.rpartition("-j ")[2].split(" ")[0] in ours]  # fmt: skip
        if found or jumps:
            text = [f"*{table}", *(f":{name} - [0:0]" for name in found)]
            text += [f"-D {line[3:]}" for line in jumps]
            text += [f"-X {name}" for name in found]
            await run(f"{program}-restore", "--noflush", "-w", "5", text="\n".join([*text, "COMMIT", ""]))


MODE = Mode()
