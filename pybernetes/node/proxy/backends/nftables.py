"""The mode nftables: one table of our own, addresses looked up in maps, a target picked at random."""

from __future__ import annotations

import hashlib
import ipaddress
import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pybernetes.node.proxy.backend import Settings, SyncError, node_port_ips, own_addresses
from pybernetes.node.proxy.change_tracker import Change
from pybernetes.node.proxy.commands import CommandError, run
from pybernetes.node.proxy.service_port import ServicePort, Target

log = logging.getLogger(__name__)
TABLE = "kube-proxy"
CLUSTER_IPS, SERVICE_IPS, NODE_PORTS = "cluster-ips", "service-ips", "service-nodeports"
REFUSED, REFUSED_NODE_PORTS = "no-endpoint-services", "no-endpoint-nodeports"
FIREWALL, HAIRPINS, NODE_PORT_IPS = "firewall-ips", "hairpin-connections", "nodeport-ips"
_AT_ONCE = 1000  # elements in one line, which nft reads into memory as a whole
_LONGEST_NAME = 200

# The kernel's hooks: name, type, hook, priority.
HOOKS = (
    ("filter-prerouting-pre-dnat", "filter", "prerouting", -110),
    ("filter-output-pre-dnat", "filter", "output", -110),
    ("filter-input", "filter", "input", 0),
    ("filter-forward", "filter", "forward", 0),
    ("filter-output", "filter", "output", 0),
    ("nat-prerouting", "nat", "prerouting", -100),
    ("nat-output", "nat", "output", -100),
    ("nat-postrouting", "nat", "postrouting", 100),
)
# Where our chains are entered.
JUMPS = (
    ("filter-input", "ct state new jump nodeport-endpoints-check"),
    ("filter-input", "ct state new jump service-endpoints-check"),
    ("filter-forward", "ct state new jump service-endpoints-check"),
    ("filter-output", "ct state new jump service-endpoints-check"),
    ("filter-prerouting-pre-dnat", "ct state new jump firewall-check"),
    ("filter-output-pre-dnat", "ct state new jump firewall-check"),
    ("nat-output", "jump services"),
    ("nat-prerouting", "jump services"),
    ("nat-postrouting", "jump masquerading"),
    ("filter-forward", "ct state new jump cluster-ips-check"),
    ("filter-output", "ct state new jump cluster-ips-check"),
)
_CHAINS = (
    "services", "masquerading", "service-endpoints-check", "nodeport-endpoints-check", "firewall-check",
    "cluster-ips-check", "reject-chain",
)  # fmt: skip

Elements = dict[str, dict[str, str]]  # by set or map: what is looked up, and what is found (nothing in a set)


class Rules(NamedTuple):
    """What one portal needs: chains of its own, sets of its own (name and definition), elements of shared maps."""

    chains: dict[str, tuple[str, ...]]
    sets: dict[str, str]
    elements: Elements


def chain_name(prefix: str, portal: ServicePort, target: Target | None = None) -> str:
    """A name that tells people what a chain is for, and that no other has."""
    full = f"{portal.service}/{portal.protocol}/{portal.port_name}"
    if target is not None:
        full += f"__{target.ip.replace(':', '.')}/{target.port}"
    digest = hashlib.sha256(full.encode()).hexdigest()[:8].upper()
    return f"{prefix}-{digest}-{full}"[:_LONGEST_NAME]


def rules(portal: ServicePort, settings: Settings) -> Rules:
    """The rules of one portal."""
    cluster, local, external, firewall = (
        chain_name(prefix, portal) for prefix in ("service", "local", "external", "firewall")
    )
    chains: dict[str, tuple[str, ...]] = {}
    elements: Elements = {CLUSTER_IPS: {portal.cluster_ip: ""}}

    def put(name: str, key: str, value: str) -> None:
        elements.setdefault(name, {})[key] = value

    def key(address: str) -> str:
        return f"{address} . {portal.protocol} . {portal.port}"

    refusal = "drop" if portal.exists else "goto reject-chain"
    if portal.internal_targets:
        put(SERVICE_IPS, key(portal.cluster_ip), f"goto {local if portal.internal_local else cluster}")
    else:
        put(REFUSED, key(portal.cluster_ip), refusal)
    for address in (*portal.external_ips, *portal.load_balancer_ips):
        if portal.exists:
            put(SERVICE_IPS, key(address), f"goto {external}")
        if not portal.external_targets:
            put(REFUSED, key(address), refusal)
    if portal.node_port:
        number = f"{portal.protocol} . {portal.node_port}"
        if portal.exists:
            put(NODE_PORTS, number, f"goto {external}")
        if not portal.external_targets:
            put(REFUSED_NODE_PORTS, number, refusal)
    if portal.load_balancer_ips and portal.source_ranges:
        chains[firewall] = (_firewall(portal, settings),)
        for address in portal.load_balancer_ips:
            put(FIREWALL, key(address), f"goto {firewall}")
    if portal.exists and portal.external:
        chains[external] = _external(portal, settings, cluster, local)
    for chain, targets in ((cluster, portal.cluster), (local, portal.local)):
        if targets:
            chains[chain] = _spread(portal, targets)
    sets: dict[str, str] = {}
    for target in portal.reachable:
        if portal.affinity_seconds:
            chain, clients = _affinity_names(portal, target)
            sets[clients] = (
                f"type {_address(portal.family)} ; flags dynamic,timeout ; timeout {portal.affinity_seconds}s ;"
            )
            chains[chain] = (
                f"update @{clients} {{ {_ip(portal.family)} saddr }}",
                f"meta l4proto {portal.protocol} dnat to {target}",
            )
        if target.local:
            put(HAIRPINS, f"{target.ip} . {target.ip} . {portal.protocol} . {target.port}", "")
    return Rules(chains, sets, elements)


def _affinity_names(portal: ServicePort, target: Target) -> tuple[str, str]:
    """Chain and set of a target. The time is in the set's name because it cannot be changed."""
    chain = chain_name("endpoint", portal, target)
    return chain, f"affinity-{portal.affinity_seconds}-{chain.removeprefix('endpoint-')}"


def _spread(portal: ServicePort, targets: tuple[Target, ...]) -> tuple[str, ...]:
    count, ip = len(targets), _ip(portal.family)
    if portal.affinity_seconds:
        names = [_affinity_names(portal, each) for each in targets]
        known = [f"{ip} saddr @{clients} goto {chain}" for chain, clients in names]
        choices = ", ".join(f"{position} : goto {chain}" for position, (chain, _) in enumerate(names))
        return (*known, f"numgen random mod {count} vmap {{ {choices} }}")
    if count == 1:
        return (f"meta l4proto {portal.protocol} dnat to {targets[0]}",)
    choices = ", ".join(f"{position} : {each.ip} . {each.port}" for position, each in enumerate(targets))
    return (
        f"meta l4proto {portal.protocol} dnat {ip} addr . port to "
        f"numgen random mod {count} map {{ {choices} }}",
    )


def _external(portal: ServicePort, settings: Settings, cluster: str, local: str) -> tuple[str, ...]:
    """Traffic from outside; with the policy Local, that of this node and its pods goes anywhere still."""
    if not portal.external_local:
        return (_mark(settings), f"goto {cluster}")
    lines = []
    if portal.cluster:
        if settings.local.known(portal.family):
            lines.append(f"{_source(settings, portal.family)} goto {cluster}")
        lines.append(f"fib saddr type local {_mark(settings)}")
        lines.append(f"fib saddr type local goto {cluster}")
    if portal.local:
        lines.append(f"goto {local}")
    return tuple(lines)


def _firewall(portal: ServicePort, settings: Settings) -> str:
    sources = list(portal.source_ranges)
    own = settings.node_address(portal.family)
    if own and any(ipaddress.ip_address(own) in ipaddress.ip_network(each) for each in sources):
        sources += portal.load_balancer_ips
    networks = [ipaddress.ip_network(each) for each in sources]
    merged = ipaddress.collapse_addresses(networks)  # type: ignore[type-var]
    return f"{_ip(portal.family)} saddr != {{ {', '.join(map(str, merged))} }} drop"


def _ip(family: int) -> str:
    return "ip" if family == 4 else "ip6"


def _address(family: int) -> str:
    return "ipv4_addr" if family == 4 else "ipv6_addr"


def _mark(settings: Settings) -> str:
    return f"mark set mark or {settings.mark}"


def _source(settings: Settings, family: int, *, negated: bool = False) -> str:
    operator = "!= " if negated else ""
    if settings.local.interface:
        return f'iifname {operator}"{settings.local.interface.replace("+", "*")}"'
    return f"{_ip(family)} saddr {operator}{settings.local.range(family)}"


def base(settings: Settings, family: int, addresses: Sequence[str] | None) -> Iterator[str]:
    """The table without any portal; ``addresses`` are those of node ports, None for all."""
    ip, address, head = _ip(family), _address(family), f"{_ip(family)} {TABLE}"
    yield f'add table {head} {{ comment "rules for kube-proxy" ; }}'
    for name, kind, hook, priority in HOOKS:
        yield f"add chain {head} {name} {{ type {kind} hook {hook} priority {priority} ; }}"
    for name in _CHAINS:
        yield f"add chain {head} {name}"
    yield f"add set {head} {CLUSTER_IPS} {{ type {address} ; }}"
    yield f"add set {head} {HAIRPINS} {{ type {address} . {address} . inet_proto . inet_service ; }}"
    for name in (SERVICE_IPS, REFUSED, FIREWALL):
        yield f"add map {head} {name} {{ type {address} . inet_proto . inet_service : verdict ; }}"
    for name in (NODE_PORTS, REFUSED_NODE_PORTS):
        yield f"add map {head} {name} {{ type inet_proto . inet_service : verdict ; }}"
    loopback = "127.0.0.0/8" if family == 4 else "::1"
    node_port = f"fib daddr type local {ip} daddr != {loopback}"
    if addresses is not None:
        yield f"add set {head} {NODE_PORT_IPS} {{ type {address} ; }}"
        chosen = [each for each in addresses if not ipaddress.ip_address(each).is_loopback]
        if chosen:
            yield f"add element {head} {NODE_PORT_IPS} {{ {', '.join(dict.fromkeys(chosen))} }}"
        node_port = f"{ip} daddr @{NODE_PORT_IPS}"
    for chain, rule in JUMPS:
        yield f"add rule {head} {chain} {rule}"
    if not settings.tcp_be_liberal:
        yield f"insert rule {head} filter-forward ct state invalid drop"
    service = f"{ip} daddr . meta l4proto . th dport"
    for chain, rule in (
        ("reject-chain", "reject"),
        ("service-endpoints-check", f"{service} vmap @{REFUSED}"),
        ("nodeport-endpoints-check", f"{node_port} meta l4proto . th dport vmap @{REFUSED_NODE_PORTS}"),
        ("firewall-check", f"{service} vmap @{FIREWALL}"),
        ("cluster-ips-check", f"{ip} daddr @{CLUSTER_IPS} reject"),
        *(
            ("cluster-ips-check", f"{ip} daddr {each} drop")
            for each in settings.service_ranges
            if ipaddress.ip_network(each).version == family
        ),
        ("masquerading",
         f"mark and {settings.mark} != 0 mark set mark xor {settings.mark} masquerade fully-random"),
        ("masquerading",
         f"ct status dnat {ip} saddr . {ip} daddr . meta l4proto . th dport @{HAIRPINS} masquerade fully-random"),
        *(("services", each) for each in _masquerade(settings, family)),
        ("services", f"{service} vmap @{SERVICE_IPS}"),
        ("services", f"{node_port} meta l4proto . th dport vmap @{NODE_PORTS}"),
    ):  # fmt: skip
        yield f"add rule {head} {chain} {rule}"


def _masquerade(settings: Settings, family: int) -> Iterator[str]:
    """Traffic to cluster addresses that comes from elsewhere must come back by this node."""
    match = f"{_ip(family)} daddr @{CLUSTER_IPS}"
    if settings.masquerade_all:
        yield f"{match} {_mark(settings)}"
    elif settings.local.known(family):
        yield f"{match} {_source(settings, family, negated=True)} {_mark(settings)}"


class Nftables:
    """The mode for one family: remembers what it wrote and writes what differs, all or nothing."""

    def __init__(self, settings: Settings, family: int) -> None:
        self.settings, self.family = settings, family
        self._head = f"{_ip(family)} {TABLE}"
        self._rules: dict[tuple[str, str, str, int], Rules] = {}
        # What several portals want looked up, by set, key and portal; the first of them has its way.
        self._wishes: dict[str, dict[str, dict[tuple[str, str, str, int], str]]] = {}

    async def close(self) -> None:
        """Nothing of it runs in this process."""

    def figures(self) -> dict[tuple[str, ...], float]:
        """Upstream counts nothing more of this mode."""
        return {}

    async def resync(self, portals: Iterable[ServicePort]) -> None:
        """Replaces the whole table at once."""
        self._rules, self._wishes = {}, {}
        given = self.settings.node_port_addresses or ("primary",)
        addresses = node_port_ips(given, self.settings.node, self.family, await own_addresses())
        text = [f"add table {self._head}", f"delete table {self._head}"]
        text += base(self.settings, self.family, addresses)
        text += self._difference([Change(None, each) for each in portals])
        await self._run(text)

    async def sync(self, changes: Sequence[Change]) -> None:
        """Writes chains and elements that changed."""
        text = self._difference(changes)
        if text:
            await self._run(text)

    async def _run(self, text: list[str]) -> None:
        try:
            await run("nft", "-f", "-", text="\n".join([*text, ""]))
        except CommandError as error:
            raise SyncError(str(error)) from None

    def difference(self, changes: Sequence[Change]) -> str:
        """What nft has to read for changes, which are then taken for done."""
        return "\n".join(self._difference(changes))

    def _difference(self, changes: Sequence[Change]) -> list[str]:
        head = self._head
        written: dict[str, tuple[str, ...]] = {}
        known: set[str] = set()
        gone_chains: dict[str, None] = {}
        new_sets: dict[str, str] = {}
        gone_sets: dict[str, None] = {}
        before: dict[tuple[str, str], str | None] = {}
        for change in changes:
            key = (change.new or change.old).key  # type: ignore[union-attr]
            old = self._rules.pop(key, Rules({}, {}, {}))
            new = rules(change.new, self.settings) if change.new is not None else Rules({}, {}, {})
            if change.new is not None:
                self._rules[key] = new
            known.update(old.chains)
            written.update((name, each) for name, each in new.chains.items() if old.chains.get(name) != each)
            gone_chains.update((name, None) for name in old.chains if name not in new.chains)
            new_sets.update((name, each) for name, each in new.sets.items() if name not in old.sets)
            gone_sets.update((name, None) for name in old.sets if name not in new.sets)
            self._wish(key, old.elements, new.elements, before)
        gone, added = self._elements(before)
        lines = [f"add chain {head} {name}" for name in written if name not in known]
        lines += [f"add set {head} {name} {{ {each} }}" for name, each in new_sets.items()]
        lines += [f"flush chain {head} {name}" for name in (*written, *gone_chains) if name in known]
        lines += [f"add rule {head} {name} {rule}" for name, each in written.items() for rule in each]
        lines += [f"delete element {head} {name} {{ {each} }}" for name, each in _lines(gone)]
        lines += [f"add element {head} {name} {{ {each} }}" for name, each in _lines(added)]
        lines += [f"delete chain {head} {name}" for name in gone_chains if name not in written]
        lines += [f"delete set {head} {name}" for name in gone_sets if name not in new_sets]
        return lines

    def _wish(
        self,
        portal: tuple[str, str, str, int],
        old: Elements,
        new: Elements,
        before: dict[tuple[str, str], str | None],
    ) -> None:
        """Takes note of a portal's elements; ``before`` collects how those that may change were."""
        for elements, wanted in ((old, False), (new, True)):
            for name, keys in elements.items():
                held = self._wishes.setdefault(name, {})
                for key, value in keys.items():
                    if old.get(name, {}).get(key) == value == new.get(name, {}).get(key):
                        continue
                    wishes = held.setdefault(key, {})
                    before.setdefault((name, key), next(iter(wishes.values()), None))
                    if wanted:
                        wishes[portal] = value
                    else:
                        wishes.pop(portal, None)
                        if not wishes:
                            del held[key]

    def _elements(
        self, before: dict[tuple[str, str], str | None]
    ) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        """The elements that go and that come, by set."""
        gone: dict[str, list[str]] = {}
        added: dict[str, list[str]] = {}
        for (name, key), old in before.items():
            new = next(iter(self._wishes[name].get(key, {}).values()), None)
            if new != old:
                if old is not None:
                    gone.setdefault(name, []).append(f"{key} : {old}" if old else key)
                if new is not None:
                    added.setdefault(name, []).append(f"{key} : {new}" if new else key)
        return gone, added


def _lines(elements: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    for name, each in elements.items():
        for start in range(0, len(each), _AT_ONCE):
            yield name, ", ".join(each[start : start + _AT_ONCE])


class Mode:
    """The mode as ``--proxy-mode=nftables`` chooses it."""

    def __call__(self, settings: Settings, family: int) -> Nftables:
        return Nftables(settings, family)

    async def cleanup(self) -> None:
        """Removes the table."""
        for family in (4, 6):
            head = f"{_ip(family)} {TABLE}"
            try:
                await run("nft", "-f", "-", text=f"add table {head}\ndelete table {head}\n")
            except CommandError as error:
                log.debug("nothing to clean: %s", error)


MODE = Mode()
