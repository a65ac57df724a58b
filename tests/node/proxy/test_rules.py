"""The rules of portals as tables, and that changes lead to the same rules as writing everything anew."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pybernetes.node.proxy import chains
from pybernetes.node.proxy.backend import LocalTraffic, Settings, modes, node_port_ips
from pybernetes.node.proxy.backends import iptables, nftables
from pybernetes.node.proxy.change_tracker import Change
from pybernetes.node.proxy.service_port import Node, ServicePort, Target

NODE = Node("here", addresses=("172.30.0.2",))
SETTINGS = Settings(NODE, LocalTraffic(ranges=("10.244.0.0/16",)))
A, B = Target("10.244.0.2", 8080, True), Target("10.244.1.3", 8080)
PORTAL = ServicePort("default/web", "http", "tcp", 4, "10.96.0.10", 80, cluster=(A, B), exists=True)
SVC, SVL, EXT, FW = (
    chains.chain_name(each, "default/web:http", "tcp") for each in ("SVC", "SVL", "EXT", "FW")
)
SEP_A = chains.chain_name("SEP", "default/web:http", "tcp", "10.244.0.2:8080")
N_SVC, N_SVL, N_EXT, N_FW = (
    nftables.chain_name(each, PORTAL) for each in ("service", "local", "external", "firewall")
)


def test_the_modes_are_these() -> None:
    assert sorted(modes()) == ["iptables", "nftables", "userspace"]


def test_chain_names_are_upstreams() -> None:
    # What any Kubernetes cluster has for its own API.
    assert chains.chain_name("SVC", "default/kubernetes:https", "tcp") == "KUBE-SVC-NPX46M4PTMTKRN6Y"


# -- iptables --------------------------------------------------------------------------------------------

_TO_A, _TO_B = (f"-p tcp -m tcp -j DNAT --to-destination {each}" for each in (A, B))
_HALF = "-p tcp -m tcp -m statistic --mode random --probability 0.5000000000 -j DNAT --to-destination 10.244.0.2:8080"
_NOT_LOCAL = (
    '! -s 10.244.0.0/16 -d 10.96.0.10 -p tcp -m tcp --dport 80 -m comment --comment "default/web:http cluster IP" '
    "-j KUBE-MARK-MASQ"
)


def _to(address: str, comment: str, target: str) -> str:
    return (
        f'-d {address} -p tcp -m comment --comment "default/web:http {comment}" -m tcp --dport 80 -j {target}'
    )


@pytest.mark.parametrize(
    ("changes", "own", "shared", "hairpins"),
    [
        ({}, {SVC: [_NOT_LOCAL, _HALF, _TO_B]}, {"KUBE-SERVICES nat": [_to("10.96.0.10", "cluster IP", SVC)]}, [A.ip]),
        ({"cluster": (), "exists": False}, {},
         {"KUBE-SERVICES filter": [_to("10.96.0.10", "has no endpoints", "REJECT")]}, []),
        ({"cluster": (), "internal_local": True}, {},
         {"KUBE-SERVICES filter": [_to("10.96.0.10", "has no local endpoints", "DROP")]}, []),
        ({"cluster": (B,), "affinity_seconds": 60},
         {SVC: [_NOT_LOCAL, "-m recent --name {B} --rcheck --seconds 60 --reap -j {B}", "-j {B}"],
          "{B}": ["-p tcp -m recent --name {B} --set -m tcp -j DNAT --to-destination 10.244.1.3:8080"]},
         {"KUBE-SERVICES nat": [_to("10.96.0.10", "cluster IP", SVC)]}, []),
        ({"cluster": (B,), "node_port": 30080, "external_ips": ("192.0.2.1",)},
         {SVC: [_NOT_LOCAL, _TO_B],
          EXT: ['-m comment --comment "masquerade traffic for default/web:http external destinations" -j KUBE-MARK-MASQ',
                f"-j {SVC}"]},
         {"KUBE-SERVICES nat": [_to("10.96.0.10", "cluster IP", SVC), _to("192.0.2.1", "external IP", EXT)],
          "KUBE-NODEPORTS nat": [f'-p tcp -m comment --comment "default/web:http" -m tcp --dport 30080 -j {EXT}']}, []),
        ({"cluster": (B,), "load_balancer_ips": ("198.51.100.7",), "source_ranges": ("172.30.0.0/24",),
          "external_local": True, "health_check_port": 31000},
         {SVC: [_NOT_LOCAL, _TO_B],
          EXT: ['-s 10.244.0.0/16 -m comment --comment "pod traffic for default/web:http external destinations" '
                f"-j {SVC}",
                '-m comment --comment "masquerade LOCAL traffic for default/web:http external destinations" '
                "-m addrtype --src-type LOCAL -j KUBE-MARK-MASQ",
                '-m comment --comment "route LOCAL traffic for default/web:http external destinations" '
                f"-m addrtype --src-type LOCAL -j {SVC}"],
          FW: [f'-s 172.30.0.0/24 -m comment --comment "default/web:http loadbalancer IP" -j {EXT}',
               f'-s 198.51.100.7 -m comment --comment "default/web:http loadbalancer IP" -j {EXT}']},
         {"KUBE-SERVICES nat": [_to("10.96.0.10", "cluster IP", SVC), _to("198.51.100.7", "loadbalancer IP", FW)],
          "KUBE-EXTERNAL-SERVICES filter": [_to("198.51.100.7", "has no local endpoints", "DROP")],
          "KUBE-PROXY-FIREWALL filter": [_to("198.51.100.7", f"traffic not accepted by {FW}", "DROP")],
          "KUBE-NODEPORTS filter": ['-p tcp -m comment --comment "default/web:http health check node port" '
                                    "-m tcp --dport 31000 -j ACCEPT"]}, []),
    ],
)  # fmt: skip
def test_iptables(
    changes: dict[str, Any], own: dict[str, list[str]], shared: dict[str, list[str]], hairpins: list[str]
) -> None:
    found = chains.rules(replace(PORTAL, **changes), SETTINGS)
    name = chains.chain_name("SEP", "default/web:http", "tcp", str(B))
    expected = {
        chain.replace("{B}", name): tuple(line.replace("{B}", name) for line in lines)
        for chain, lines in own.items()
    }
    assert found.own == expected
    assert {f"{chain} {table}": list(lines) for (table, chain), lines in found.shared.items()} == shared
    assert list(found.hairpins) == hairpins


@pytest.mark.parametrize(
    ("changes", "first"),
    [
        ({"masquerade_all": True}, _NOT_LOCAL.removeprefix("! -s 10.244.0.0/16 ")),
        ({"local": LocalTraffic(interface="cni0")}, _NOT_LOCAL.replace("! -s 10.244.0.0/16", "! -i cni0")),
        ({"local": LocalTraffic(interface="veth+")}, _NOT_LOCAL.replace("! -s 10.244.0.0/16", "! -i veth+")),
        ({"local": LocalTraffic()}, _HALF),
    ],
)
def test_masquerading(changes: dict[str, Any], first: str) -> None:
    assert chains.rules(PORTAL, replace(SETTINGS, **changes)).own[SVC][0] == first


@pytest.mark.parametrize(
    ("given_", "localhost", "expected"),
    [
        ((), True, ["-m addrtype --dst-type LOCAL"]),
        ((), False, ["! -d 127.0.0.0/8"]),
        (("172.30.0.0/24",), True, ["-d 172.30.0.2"]),
        (("primary",), True, ["-d 172.30.0.2"]),
        (("localhost",), True, ["-d 127.0.0.1"]),
        (("localhost",), False, []),
    ],
)
def test_node_port_addresses(given_: tuple[str, ...], localhost: bool, expected: list[str]) -> None:
    own = replace(SETTINGS, node_port_addresses=given_, localhost_node_ports=localhost)
    lines = chains.node_port_entries(own, 4, ["127.0.0.1", "172.30.0.2", "10.244.0.1", "::1"])
    assert len(lines) == len(expected)
    assert all(part in line for part, line in zip(expected, lines, strict=True))


def test_node_port_ips() -> None:
    own = ["127.0.0.1", "172.30.0.2", "::1", "fd00::2"]
    assert node_port_ips(("all",), NODE, 4, own) is None
    assert node_port_ips(("0.0.0.0/0",), NODE, 4, own) is None
    assert node_port_ips(("fd00::/8", "127.0.0.0/8"), NODE, 4, own) == ["127.0.0.1"]
    assert node_port_ips(("fd00::/8",), NODE, 6, own) == ["fd00::2"]


def test_only_what_changed_is_written() -> None:
    backend = iptables.Iptables(SETTINGS, 4)
    backend.difference([Change(None, PORTAL)])
    after = replace(PORTAL, cluster=(B,))
    lines = backend.difference([Change(PORTAL, after)]).splitlines()
    assert lines == [
        "*nat", f":{SVC} - [0:0]", f"-A {SVC} {_NOT_LOCAL}", f"-A {SVC} {_TO_B}",
        f"-D KUBE-HAIRPIN -s {A.ip} -d {A.ip} -j MASQUERADE --random-fully", "COMMIT",
    ]  # fmt: skip
    assert backend.difference([Change(after, after)]) == ""


# -- nftables --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "chains", "elements"),
    [
        ({}, {N_SVC: ["meta l4proto tcp dnat ip addr . port to numgen random mod 2 map "
                      "{ 0 : 10.244.0.2 . 8080, 1 : 10.244.1.3 . 8080 }"]},
         {"service-ips": {"10.96.0.10 . tcp . 80": f"goto {N_SVC}"},
          "hairpin-connections": {"10.244.0.2 . 10.244.0.2 . tcp . 8080": ""}}),
        ({"cluster": (), "exists": False, "node_port": 30080}, {},
         {"no-endpoint-services": {"10.96.0.10 . tcp . 80": "goto reject-chain"},
          "no-endpoint-nodeports": {"tcp . 30080": "goto reject-chain"}}),
        ({"cluster": (B,), "local": (), "node_port": 30080, "external_local": True},
         {N_SVC: ["meta l4proto tcp dnat to 10.244.1.3:8080"],
          N_EXT: [f"ip saddr 10.244.0.0/16 goto {N_SVC}", "fib saddr type local mark set mark or 0x00004000",
                  f"fib saddr type local goto {N_SVC}"]},
         {"service-ips": {"10.96.0.10 . tcp . 80": f"goto {N_SVC}"}, "service-nodeports": {"tcp . 30080": f"goto {N_EXT}"},
          "no-endpoint-nodeports": {"tcp . 30080": "drop"}}),
        ({"cluster": (B,), "load_balancer_ips": ("198.51.100.7",), "source_ranges": ("172.30.0.0/24",)},
         {N_SVC: ["meta l4proto tcp dnat to 10.244.1.3:8080"],
          N_EXT: ["mark set mark or 0x00004000", f"goto {N_SVC}"],
          N_FW: ["ip saddr != { 172.30.0.0/24, 198.51.100.7/32 } drop"]},
         {"service-ips": {"10.96.0.10 . tcp . 80": f"goto {N_SVC}", "198.51.100.7 . tcp . 80": f"goto {N_EXT}"},
          "firewall-ips": {"198.51.100.7 . tcp . 80": f"goto {N_FW}"}}),
    ],
)  # fmt: skip
def test_nftables(
    changes: dict[str, Any], chains: dict[str, list[str]], elements: dict[str, dict[str, str]]
) -> None:
    found = nftables.rules(replace(PORTAL, **changes), SETTINGS)
    assert {name: list(each) for name, each in found.chains.items()} == chains
    assert found.elements == {"cluster-ips": {"10.96.0.10": ""}, **elements}


def test_nftables_affinity() -> None:
    found = nftables.rules(replace(PORTAL, cluster=(B,), affinity_seconds=60), SETTINGS)
    (clients,) = found.sets
    endpoint = nftables.chain_name("endpoint", PORTAL, B)
    assert found.sets[clients] == "type ipv4_addr ; flags dynamic,timeout ; timeout 60s ;"
    assert found.chains[N_SVC] == (
        f"ip saddr @{clients} goto {endpoint}", f"numgen random mod 1 vmap {{ 0 : goto {endpoint} }}",
    )  # fmt: skip
    assert found.chains[endpoint] == (
        f"update @{clients} {{ ip saddr }}",
        "meta l4proto tcp dnat to 10.244.1.3:8080",
    )


# -- changes and everything anew -------------------------------------------------------------------------


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
                        each.endswith(f"-j {name}") for held in self.chains.values() for each in held
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
                        value == f"goto {name}" for each in self.elements.values() for value in each.values()
                    )
            elif what == "rule":
                self.chains[name][content] += 1
            elif what == "set":
                self.sets.add(name) if verb == "add" else self.sets.remove(name)
            else:
                held = self.elements.setdefault(name, {})
                for each in content.strip("{} ").split(", "):
                    key, _, value = each.partition(" : ")
                    if verb == "add":
                        assert key not in held
                        held[key] = value
                    else:
                        assert held.pop(key) == value

    def state(self) -> tuple[Any, ...]:
        chains = {name: +rules for name, rules in self.chains.items()}
        # A shared chain without lines and one that was never named are the same.
        kept = {
            name: rules
            for name, rules in chains.items()
            if rules or ("KUBE-S" in name and "SERVICES" not in name)
        }
        return kept, {name: each for name, each in self.elements.items() if each}, self.sets


_TARGETS = st.lists(
    st.sampled_from([Target(f"10.244.{n}.{n + 2}", 8080, n == 0) for n in range(4)]), unique=True, max_size=4
).map(tuple)


@st.composite
def _portals(draw: st.DrawFn) -> ServicePort:
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
        cluster=cluster, local=tuple(each for each in cluster if each.local), exists=bool(cluster),
    )  # fmt: skip


@given(st.lists(st.lists(_portals(), max_size=3, unique_by=lambda each: each.key), min_size=1, max_size=5))
@settings(max_examples=150, deadline=None)
def test_changes_lead_where_writing_everything_does(worlds: list[list[ServicePort]]) -> None:
    for make, read in ((iptables.Iptables, Kernel.restore), (nftables.Nftables, Kernel.nft)):
        backend, kernel, held = make(SETTINGS, 4), Kernel(), {}
        for world in worlds:
            wanted = {each.key: each for each in world}
            changes = [Change(held.get(key), each) for key, each in wanted.items() if held.get(key) != each]
            changes += [Change(each, None) for key, each in held.items() if key not in wanted]
            read(kernel, backend.difference(changes))
            held = wanted
        fresh = Kernel()
        read(fresh, make(SETTINGS, 4).difference([Change(None, each) for each in held.values()]))
        if make is nftables.Nftables:
            # Of two portals that want one address the one that came first has it: only whose it is may differ.
            assert kernel.chains == fresh.chains and kernel.sets == fresh.sets
            assert {name: set(each) for name, each in kernel.state()[1].items()} == {
                name: set(each) for name, each in fresh.state()[1].items()
            }
        else:
            assert kernel.state() == fresh.state()
