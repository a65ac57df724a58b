"""The mode nftables: writes one table of our own, and later the elements and chains that differ."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence

from pybernetes.lib.processes.commands import CommandError, run
from pybernetes.node.proxy.backend import Metric, Settings, SyncError
from pybernetes.node.proxy.change_tracker import Change
from pybernetes.node.proxy.nftables.rules import NO_RULES, Elements, Rules, rules
from pybernetes.node.proxy.nftables.table import TABLE, base_table, ip_keyword
from pybernetes.node.proxy.node_port_addresses import node_port_ips, own_addresses
from pybernetes.node.proxy.service_port import ServicePort

log = logging.getLogger(__name__)
_AT_ONCE = 1000  # elements in one line, which nft reads into memory as a whole


class Nftables:
    """The mode for one address family: remembers what it wrote and writes what differs, all or nothing."""

    def __init__(self, settings: Settings, family: int) -> None:
        self.settings, self.family = settings, family
        self._head = f"{ip_keyword(family)} {TABLE}"
        self._rules: dict[tuple[str, str, str, int], Rules] = {}
        # Several ServicePorts may want the same element: by set, key and ServicePort; the first of them gets it.
        self._wishes: dict[str, dict[str, dict[tuple[str, str, str, int], str]]] = {}

    async def close(self) -> None:
        """Do nothing: nothing of the mode runs in this process."""

    def samples(self) -> dict[tuple[str, ...], float]:
        """Return nothing: upstream has no other metrics of this mode."""
        return {}

    async def resync(self, service_ports: Iterable[ServicePort]) -> None:
        """Replace the whole table at once."""
        self._rules, self._wishes = {}, {}
        selectors = self.settings.node_port_addresses or ("primary",)
        addresses = node_port_ips(selectors, self.settings.node, self.family, await own_addresses())
        text = [f"add table {self._head}", f"delete table {self._head}"]
        text += base_table(self.settings, self.family, addresses)
        text += self._difference([Change(None, port) for port in service_ports])
        await self._run(text)

    async def sync(self, changes: Sequence[Change]) -> None:
        """Write the chains and elements that changed."""
        text = self._difference(changes)
        if text:
            await self._run(text)

    async def _run(self, text: list[str]) -> None:
        try:
            await run("nft", "-f", "-", text="\n".join([*text, ""]))
        except CommandError as error:
            raise SyncError(str(error)) from None

    def difference(self, changes: Sequence[Change]) -> str:
        """Return the input of nft for changes, and remember them as done."""
        return "\n".join(self._difference(changes))

    def _difference(self, changes: Sequence[Change]) -> list[str]:
        head = self._head
        written: dict[str, tuple[str, ...]] = {}
        known: set[str] = set()
        removed_chains: dict[str, None] = {}
        new_sets: dict[str, str] = {}
        removed_sets: dict[str, None] = {}
        before: dict[tuple[str, str], str | None] = {}
        for change in changes:
            old, new = self._rules.pop(change.key, NO_RULES), NO_RULES
            if change.new is not None:
                new = self._rules[change.key] = rules(change.new, self.settings)
            known.update(old.chains)
            written.update(
                (name, lines) for name, lines in new.chains.items() if old.chains.get(name) != lines
            )
            removed_chains.update((name, None) for name in old.chains if name not in new.chains)
            new_sets.update(
                (name, definition) for name, definition in new.sets.items() if name not in old.sets
            )
            removed_sets.update((name, None) for name in old.sets if name not in new.sets)
            self._wish(change.key, old.elements, new.elements, before)
        removed, added = self._elements(before)
        text = [f"add chain {head} {name}" for name in written if name not in known]
        text += [f"add set {head} {name} {{ {definition} }}" for name, definition in new_sets.items()]
        text += [f"flush chain {head} {name}" for name in (*written, *removed_chains) if name in known]
        text += [f"add rule {head} {name} {rule}" for name, lines in written.items() for rule in lines]
        text += [f"delete element {head} {name} {{ {elements} }}" for name, elements in _lines(removed)]
        text += [f"add element {head} {name} {{ {elements} }}" for name, elements in _lines(added)]
        text += [f"delete chain {head} {name}" for name in removed_chains if name not in written]
        text += [f"delete set {head} {name}" for name in removed_sets if name not in new_sets]
        return text

    def _wish(
        self,
        service_port: tuple[str, str, str, int],
        old: Elements,
        new: Elements,
        before: dict[tuple[str, str], str | None],
    ) -> None:
        """Note the elements of a ServicePort; ``before`` collects the former values of those that may change."""
        for elements, wanted in ((old, False), (new, True)):
            for name, keys in elements.items():
                wishes_of_set = self._wishes.setdefault(name, {})
                for key, value in keys.items():
                    if old.get(name, {}).get(key) == value == new.get(name, {}).get(key):
                        continue
                    wishes = wishes_of_set.setdefault(key, {})
                    before.setdefault((name, key), next(iter(wishes.values()), None))
                    if wanted:
                        wishes[service_port] = value
                    else:
                        wishes.pop(service_port, None)
                        if not wishes:
                            del wishes_of_set[key]

    def _elements(
        self, before: dict[tuple[str, str], str | None]
    ) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        """Return the elements to remove and to add, by set."""
        removed: dict[str, list[str]] = {}
        added: dict[str, list[str]] = {}
        for (name, key), old in before.items():
            new = next(iter(self._wishes[name].get(key, {}).values()), None)
            if new != old:
                if old is not None:
                    removed.setdefault(name, []).append(f"{key} : {old}" if old else key)
                if new is not None:
                    added.setdefault(name, []).append(f"{key} : {new}" if new else key)
        return removed, added


def _lines(elements: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """Yield the elements of each set in portions."""
    for name, texts in elements.items():
        for start in range(0, len(texts), _AT_ONCE):
            yield name, ", ".join(texts[start : start + _AT_ONCE])


class Mode:
    """The mode as ``--proxy-mode=nftables`` chooses it."""

    section, rules = "nftables", "nftables"
    metrics: tuple[Metric, ...] = ()
    failures = {
        "failures": Metric(
            "sync_proxy_rules_nftables_sync_failures_total",
            "counter",
            "Cumulative proxy nftables sync failures",
        )
    }

    def __call__(self, settings: Settings, family: int) -> Nftables:
        return Nftables(settings, family)

    def missing(self) -> str:
        """Return nothing: every kernel that runs pods has what it takes."""
        return ""

    async def cleanup(self) -> None:
        """Remove the table."""
        for family in (4, 6):
            head = f"{ip_keyword(family)} {TABLE}"
            try:
                await run("nft", "-f", "-", text=f"add table {head}\ndelete table {head}\n")
            except CommandError as error:
                log.debug("nothing to clean: %s", error)


MODE = Mode()
