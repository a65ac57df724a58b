"""The mode iptables: writes chains of rules, and later the ones that differ."""

from __future__ import annotations

import asyncio
import logging
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from pybernetes.lib.processes.commands import CommandError, run
from pybernetes.node.proxy.backend import Metric, Settings, SyncError
from pybernetes.node.proxy.change_tracker import Change
from pybernetes.node.proxy.iptables import saved_rules
from pybernetes.node.proxy.iptables.chains import (
    HAIRPIN,
    JUMPS,
    MARK,
    SERVICES,
    SHARED,
    SharedChain,
    fixed_chains,
    hairpin,
    node_port_jumps,
)
from pybernetes.node.proxy.iptables.rules import NO_RULES, Rules, Spread, rules
from pybernetes.node.proxy.node_port_addresses import own_addresses
from pybernetes.node.proxy.service_port import ServicePort

log = logging.getLogger(__name__)
_TOTAL = Metric(
    "sync_proxy_rules_iptables_total",
    "gauge",
    "Total number of iptables rules owned by kube-proxy",
    ("table",),
)
_LAST = Metric(
    "sync_proxy_rules_iptables_last",
    "gauge",
    "Number of iptables rules written by kube-proxy in last sync",
    ("table",),
)
_FAILURES = {
    "failures": Metric(
        "sync_proxy_rules_iptables_restore_failures_total",
        "counter",
        "Cumulative proxy iptables restore failures",
    ),
    "partial_failures": Metric(
        "sync_proxy_rules_iptables_partial_restore_failures_total",
        "counter",
        "Cumulative proxy iptables partial restore failures",
    ),
}
_TABLES = ("filter", "nat")
_SERVICE_CHAIN = re.compile(r"KUBE-(SVC|SVL|EXT|FW|SEP)-[A-Z0-9]{16}$")
# The time that iptables-nft takes grows with the square of the number of chains in one run.
_CHAINS_AT_ONCE = 500
# Up to this many rules of a shared chain are inserted and deleted one by one; beyond, the chain is replaced.
_SINGLE_RULES = 200


class Iptables:
    """The mode for one address family: remembers what it wrote and writes what differs."""

    def __init__(self, settings: Settings, family: int, spread: Spread | None = None) -> None:
        self.settings, self.family, self._spread = settings, family, spread
        self._last: dict[
            str, int
        ] = {}  # how many rules the last sync wrote, by table; empty after a full one
        self._rules: dict[tuple[str, str, str, int], Rules] = {}
        self._hairpins: Counter[str] = Counter()
        self._node_port_jumps: list[str] = []

    @property
    def _program(self) -> str:
        return "iptables" if self.family == 4 else "ip6tables"

    async def close(self) -> None:
        """Do nothing: nothing of the mode runs in this process."""

    # -- a full sync --------------------------------------------------------------------------------------

    async def resync(self, service_ports: Iterable[ServicePort]) -> None:
        """Make the kernel match: chains of Services first, then those that jump to them."""
        self._rules = {port.key: rules(port, self.settings, self._spread) for port in service_ports}
        self._hairpins = Counter(ip for port_rules in self._rules.values() for ip in port_rules.hairpins)
        self._node_port_jumps = node_port_jumps(self.settings, self.family, await own_addresses())
        try:
            saved = await run(f"{self._program}-save")
            mark = fixed_chains(self.settings, self.family)[SharedChain("nat", MARK)]
            batch: dict[str, tuple[str, ...]] = {MARK: mark}
            for position, port_rules in enumerate(self._rules.values(), 1):
                batch.update(port_rules.own)
                if len(batch) > _CHAINS_AT_ONCE or position == len(self._rules):
                    await self._restore(batch)
                    batch = {MARK: mark}
            await self._write_shared(saved)
        except CommandError as error:
            raise SyncError(str(error)) from None
        self._allow_localhost()
        self._last = {}

    async def _write_shared(self, saved: str) -> None:
        """Replace the shared chains, and remove the chains of Services that are gone."""
        used = {chain for port_rules in self._rules.values() for chain in port_rules.own}
        fixed = fixed_chains(self.settings, self.family)
        shared = {chain: self._lines(chain) for chain in SHARED}
        present = saved_rules.chains(saved)
        for table in _TABLES:
            chains = {
                chain.name: lines
                for chain, lines in (*fixed.items(), *shared.items())
                if chain.table == table
            }
            stale = [
                name for name in present.get(table, ()) if _SERVICE_CHAIN.match(name) and name not in used
            ]
            text = [f"*{table}"]
            text += [f":{name} - [0:0]" for name in chains]
            text += [f":{name} - [0:0]" for name in stale]
            for name, lines in chains.items():
                text += [f"-A {name} {line}" for line in lines]
            for jump in JUMPS:
                if jump.table == table and not saved_rules.has_jump(saved, jump):
                    text.append(f"-I {jump}")
            text += [f"-X {name}" for name in stale]
            await run(
                f"{self._program}-restore", "--noflush", "-w", "5", text="\n".join([*text, "COMMIT", ""])
            )

    def _lines(self, chain: SharedChain) -> list[str]:
        if chain == HAIRPIN:
            return [hairpin(ip) for ip in self._hairpins]
        lines = [line for port_rules in self._rules.values() for line in port_rules.shared.get(chain, ())]
        return [*lines, *self._node_port_jumps] if chain == SERVICES else lines

    async def _restore(self, chains: dict[str, tuple[str, ...]]) -> None:
        """Replace chains of the table nat that jump only to one another."""
        text = ["*nat", *(f":{name} - [0:0]" for name in chains)]
        text += [f"-A {name} {line}" for name, lines in chains.items() for line in lines]
        await run(f"{self._program}-restore", "--noflush", "-w", "5", text="\n".join([*text, "COMMIT", ""]))

    def _allow_localhost(self) -> None:
        if self.family == 4 and self.settings.localhost_node_ports:
            with suppress(OSError):
                Path("/proc/sys/net/ipv4/conf/all/route_localnet").write_text("1")

    # -- a partial sync ------------------------------------------------------------------------------------

    async def sync(self, changes: Sequence[Change]) -> None:
        """Write the chains that changed, and the lines of shared chains that did."""
        text = self.difference(changes)
        if text:
            try:
                await run(f"{self._program}-restore", "--noflush", "-w", "5", text=text)
            except CommandError as error:
                raise SyncError(str(error)) from None

    def difference(self, changes: Sequence[Change]) -> str:
        """Return the input of iptables-restore for changes, and remember them as done."""
        written: dict[str, tuple[str, ...]] = {}
        removed: dict[str, None] = {}
        deleted: dict[SharedChain, list[str]] = {}
        inserted: dict[SharedChain, list[str]] = {}
        hairpins: Counter[str] = Counter()
        for change in changes:
            before, after = self._rules.pop(change.key, NO_RULES), NO_RULES
            if change.new is not None:
                after = self._rules[change.key] = rules(change.new, self.settings, self._spread)
            for name, lines in after.own.items():
                if before.own.get(name) != lines:
                    written[name] = lines
            removed.update((name, None) for name in before.own if name not in after.own)
            for chain in {**before.shared, **after.shared}:
                old_lines, new_lines = before.shared.get(chain, ()), after.shared.get(chain, ())
                deleted.setdefault(chain, []).extend(line for line in old_lines if line not in new_lines)
                inserted.setdefault(chain, []).extend(line for line in new_lines if line not in old_lines)
            hairpins.update(after.hairpins)
            hairpins.subtract(before.hairpins)
        for ip, count in hairpins.items():
            had = self._hairpins[ip] > 0
            self._hairpins[ip] += count
            if self._hairpins[ip] <= 0:
                del self._hairpins[ip]
            if had != (ip in self._hairpins):
                (deleted if had else inserted).setdefault(HAIRPIN, []).append(hairpin(ip))
        # A chain that one ServicePort gave up and another took over stays.
        unused = [name for name in removed if name not in written]
        return self._text(written, unused, deleted, inserted)

    def _text(
        self,
        written: dict[str, tuple[str, ...]],
        removed: list[str],
        deleted: dict[SharedChain, list[str]],
        inserted: dict[SharedChain, list[str]],
    ) -> str:
        text: list[str] = []
        for table in _TABLES:
            changed = [
                chain
                for chain in SHARED
                if chain.table == table and (deleted.get(chain) or inserted.get(chain))
            ]
            replaced = [
                chain
                for chain in changed
                if len(deleted.get(chain, ())) + len(inserted.get(chain, ())) > _SINGLE_RULES
            ]
            head = [f":{chain.name} - [0:0]" for chain in replaced]
            body: list[str] = []
            if table == "nat":
                head += [f":{name} - [0:0]" for name in (*written, *removed)]
                body += [f"-A {name} {line}" for name, lines in written.items() for line in lines]
            for chain in changed:
                if chain in replaced:
                    body += [f"-A {chain.name} {line}" for line in self._lines(chain)]
                else:
                    # Insert first: an address that moves from one Service to another is never without a rule.
                    body += [f"-I {chain.name} {line}" for line in inserted.get(chain, ())]
                    body += [f"-D {chain.name} {line}" for line in deleted.get(chain, ())]
            if table == "nat":
                body += [f"-X {name}" for name in removed]
            if head or body:
                text += [f"*{table}", *head, *body, "COMMIT"]
            self._last[table] = len(body)
        return "\n".join([*text, ""]) if text else ""

    def samples(self) -> dict[tuple[str, ...], float]:
        """Return how many rules there are, and how many the last sync wrote, by table."""
        totals = {"filter": 0, "nat": 0}
        for port_rules in self._rules.values():
            totals["nat"] += sum(len(lines) for lines in port_rules.own.values())
            for chain, lines in port_rules.shared.items():
                totals[chain.table] += len(lines)
        samples: dict[tuple[str, ...], float] = {}
        for table, total in totals.items():
            samples[_TOTAL.name, table] = total
            samples[_LAST.name, table] = self._last.get(table, total)
        return samples


class Mode:
    """The mode as ``--proxy-mode=iptables`` chooses it."""

    section, rules = "iptables", "iptables"
    metrics, failures = (_TOTAL, _LAST), _FAILURES

    def __call__(self, settings: Settings, family: int) -> Iptables:
        return Iptables(settings, family)

    def missing(self) -> str:
        """Return nothing: every kernel that runs pods has what it takes."""
        return ""

    async def cleanup(self) -> None:
        """Remove the jumps to our chains, and our chains."""
        await asyncio.gather(*(_clean(program) for program in ("iptables", "ip6tables")))


async def _clean(program: str) -> None:
    try:
        saved = await run(f"{program}-save")
    except CommandError as error:
        log.debug("nothing to clean: %s", error)
        return
    shared = {(chain.table, chain.name) for chain in SHARED} | {(jump.table, jump.chain) for jump in JUMPS}
    shared |= {(table, MARK) for table in _TABLES}
    text = saved_rules.removal(
        saved, _TABLES, lambda table, name: (table, name) in shared or bool(_SERVICE_CHAIN.match(name))
    )
    if text:
        await run(f"{program}-restore", "--noflush", "-w", "5", text=text)


MODE = Mode()
