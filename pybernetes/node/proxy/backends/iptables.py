"""The mode iptables: NAT by chains of rules; one of a Service's targets is picked at random."""

from __future__ import annotations

import asyncio
import logging
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from pybernetes.node.proxy.backend import Settings, SyncError, own_addresses
from pybernetes.node.proxy.chains import (
    HAIRPIN,
    JUMPS,
    MARK,
    SERVICES,
    SHARED,
    Jump,
    Rules,
    SharedChain,
    Spread,
    fixed_chains,
    hairpin,
    jump,
    node_port_entries,
    rules,
)
from pybernetes.node.proxy.change_tracker import Change
from pybernetes.node.proxy.commands import CommandError, run
from pybernetes.node.proxy.service_port import ServicePort

log = logging.getLogger(__name__)
_OWN_CHAIN = re.compile(r"KUBE-(SVC|SVL|EXT|FW|SEP)-[A-Z0-9]{16}$")
# The time that iptables-nft takes grows with the square of the chains in one run.
_CHAINS_AT_ONCE = 500
# Up to so many rules of a shared chain are put in and taken out one by one; beyond, the chain is written anew.
_SINGLE_RULES = 200


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

    async def resync(self, portals: Iterable[ServicePort]) -> None:
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
                    text.append(f"-I {jump(each)}")
            text += [f"-X {name}" for name in stale]
            await run(
                f"{self._program}-restore", "--noflush", "-w", "5", text="\n".join([*text, "COMMIT", ""])
            )

    def _lines(self, chain: SharedChain) -> list[str]:
        if chain == HAIRPIN:
            return [hairpin(ip) for ip in self._hairpins]
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
                (gone if had else new).setdefault(HAIRPIN, []).append(hairpin(ip))
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


def _has_jump(saved: str, wanted: Jump) -> bool:
    table, base, _, chain, _ = wanted
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
