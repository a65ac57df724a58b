"""Every mode is found by its folder, and changes lead to the same rules as writing everything anew."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pybernetes.node import proxy
from pybernetes.node.proxy import config
from pybernetes.node.proxy.backend import modes
from pybernetes.node.proxy.change_tracker import Change
from pybernetes.node.proxy.endpoint import Target
from pybernetes.node.proxy.iptables.iptables import Iptables
from pybernetes.node.proxy.nftables.nftables import Nftables
from pybernetes.node.proxy.service_port import ServicePort
from pybernetes.tools.local import settings as local_settings
from tests.added_files import added_folder
from tests.node.proxy.service_ports import SETTINGS


def test_the_modes_are_these() -> None:
    assert sorted(modes()) == ["iptables", "ipvs", "nftables", "userspace"]


def test_a_mode_is_added_by_its_folder_alone(tmp_path: Path) -> None:
    (tmp_path / "quantum").mkdir()
    (tmp_path / "quantum" / "__init__.py").touch()
    (tmp_path / "quantum" / "quantum.py").write_text("MODE = object()\n")
    with added_folder(proxy.__name__, tmp_path):
        assert "quantum" in modes()
        assert config.completed({"mode": "quantum"})["mode"] == "quantum"
        changed = local_settings.apply("test", local_settings.Settings(), {"proxy_mode": "quantum"})
        assert changed.proxy_mode == "quantum"


class Kernel:
    """What is in the kernel after texts that iptables-restore or nft would read."""

    def __init__(self) -> None:
        self.chains: dict[str, Counter[str]] = {}
        self.elements: dict[str, dict[str, str]] = {}
        self.sets: set[str] = set()

    def restore(self, text: str) -> None:
        table = ""
        for line in text.splitlines():
            kind, _, rest = line.partition(" ")
            if line.startswith("*"):
                table = line[1:]
            elif line.startswith(":"):
                self.chains[f"{table} {kind[1:]}"] = Counter()
            elif kind in ("-A", "-I", "-D", "-X"):
                name, _, rule = rest.partition(" ")
                chain = self.chains.setdefault(f"{table} {name}", Counter())
                if kind == "-X":
                    assert not chain and not any(
                        rule_text.endswith(f"-j {name}")
                        for rules in self.chains.values()
                        for rule_text in rules
                    ), f"{name} is in use"
                    del self.chains[f"{table} {name}"]
                elif kind == "-D":
                    assert chain[rule] > 0, f"there is no {rule}"
                    chain[rule] -= 1
                    self.chains[f"{table} {name}"] = +chain
                else:
                    if "-j KUBE-SVC" in rule or "-j KUBE-SEP" in rule:
                        assert f"{table} {rule.rpartition(' ')[2]}" in self.chains, f"{rule} leads nowhere"
                    chain[rule] += 1

    def nft(self, text: str) -> None:
        for line in text.splitlines():
            verb, what, _, _, name, *rest = line.split(" ", 5)
            content = rest[0] if rest else ""
            if what == "chain":
                if verb == "add":
                    assert name not in self.chains
                    self.chains[name] = Counter()
                elif verb == "flush":
                    self.chains[name].clear()
                else:
                    assert not self.chains.pop(name)
                    assert not any(
                        value == f"goto {name}"
                        for elements in self.elements.values()
                        for value in elements.values()
                    )
            elif what == "rule":
                self.chains[name][content] += 1
            elif what == "set":
                self.sets.add(name) if verb == "add" else self.sets.remove(name)
            else:
                elements_of_set = self.elements.setdefault(name, {})
                for element in content.strip("{} ").split(", "):
                    key, _, value = element.partition(" : ")
                    if verb == "add":
                        assert key not in elements_of_set
                        elements_of_set[key] = value
                    else:
                        assert elements_of_set.pop(key) == value

    def state(self) -> tuple[Any, ...]:
        chains = {name: +rules for name, rules in self.chains.items()}
        # A shared chain without lines and one that was never named are the same.
        kept = {
            name: rules
            for name, rules in chains.items()
            if rules or ("KUBE-S" in name and "SERVICES" not in name)
        }
        return kept, {name: elements for name, elements in self.elements.items() if elements}, self.sets


_TARGETS = st.lists(
    st.sampled_from([Target(f"10.244.{n}.{n + 2}", 8080, n == 0) for n in range(4)]), unique=True, max_size=4
).map(tuple)


@st.composite
def _service_ports(draw: st.DrawFn) -> ServicePort:
    number = draw(st.integers(0, 2))
    outside = draw(st.booleans())
    cluster = draw(_TARGETS)
    return ServicePort(
        f"default/service-{number}", "", "tcp", 4, f"10.96.0.{number + 1}", 80,
        node_port=30000 + number if outside else 0,
        load_balancer_ips=("198.51.100.7",) if outside and draw(st.booleans()) else (),
        source_ranges=draw(st.sampled_from([(), ("203.0.113.0/24",)])),
        affinity_seconds=draw(st.sampled_from([0, 60])),
        external_local=outside and draw(st.booleans()),
        cluster=cluster, local=tuple(target for target in cluster if target.local), exists=bool(cluster),
    )  # fmt: skip


@given(
    st.lists(st.lists(_service_ports(), max_size=3, unique_by=lambda port: port.key), min_size=1, max_size=5)
)
@settings(max_examples=150, deadline=None)
def test_changes_lead_where_writing_everything_does(worlds: list[list[ServicePort]]) -> None:
    for make, read in ((Iptables, Kernel.restore), (Nftables, Kernel.nft)):
        backend, kernel = make(SETTINGS, 4), Kernel()
        current: dict[tuple[str, str, str, int], ServicePort] = {}
        for world in worlds:
            desired = {port.key: port for port in world}
            changes = [
                Change(current.get(key), port) for key, port in desired.items() if current.get(key) != port
            ]
            changes += [Change(port, None) for key, port in current.items() if key not in desired]
            read(kernel, backend.difference(changes))
            current = desired
        fresh = Kernel()
        read(fresh, make(SETTINGS, 4).difference([Change(None, port) for port in current.values()]))
        if make is Nftables:
            # Of two ServicePorts that want one address the one that came first has it: only whose it is may differ.
            assert kernel.chains == fresh.chains and kernel.sets == fresh.sets
            assert {name: set(elements) for name, elements in kernel.state()[1].items()} == {
                name: set(elements) for name, elements in fresh.state()[1].items()
            }
        else:
            assert kernel.state() == fresh.state()
