"""Three nodes on one machine: pods, services and names reach each other, and again after links were cut."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from pybernetes.tools.local.network import bridge, network
from tests.node.proxy.namespaces import command
from tests.support import require_program, require_root, until
from tests.tools.local.host import ADDRESS, OUTSIDE, host
from tests.tools.local.net import NAME, NODES, Net

pytestmark = [pytest.mark.slow, pytest.mark.e2e]


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Net]:
    require_root()
    for program in ("kubectl", "containerd", "busybox", "curl", "iptables", "nft"):
        require_program(program)
    home = tmp_path_factory.mktemp("net")
    with host(f"host{NAME}") as machine:
        net = Net(home, machine)
        # A machine that lets nobody in and forwards nothing by itself, as with a firewall or with Docker.
        command("iptables", "-A", "INPUT", "-i", "lo", "-j", "ACCEPT")
        for chain in ("INPUT", "FORWARD"):
            command("iptables", "-P", chain, "DROP")
        try:
            net.pyb("up", NAME, "--nodes", "3", "--zones", "2", "--wait")
            net.fill()
            yield net
        finally:
            net.pyb("delete", NAME)
        command("iptables", "-D", "INPUT", "-i", "lo", "-j", "ACCEPT")
        assert f"pyb-{NAME}" not in command("ip", "netns", "list")


def everybody_reaches_everybody(net: Net) -> None:
    service = net.clusterip("foo")
    for pod in net.addresses:
        urls = (*net.addresses.values(), service, "foo", "foo.default", "alias.default", "heads", "door")
        until(partial(net.fetches, pod, *urls))
    for number, node in enumerate(NODES):
        own = network.address(net.setting("node_range"), number)
        for url in (service, f"{own}:8081", *net.addresses.values()):
            until(partial(net.on_node, node, url))
        # From outside: this machine is on no node.
        for url in (f"{own}:30123", f"{own}:8081"):
            until(partial(net.from_here, url))
    for balanced in ("balanced", "local"):
        address = net.balancer(balanced)
        until(partial(net.from_here, address))
    code, _ = net.inside("look", "timeout 20 wget -qO- http://closed/")
    assert code not in (0, 143)  # refused at once, and not after a while


def test_everybody_reaches_everybody(net: Net) -> None:
    net.use("iptables", "vxlan")
    everybody_reaches_everybody(net)


def test_traffic_stays_in_the_zone_or_on_the_node(net: Net) -> None:
    """The first and the third node are in one zone, the second in another."""
    web = {net.nodes[node]: node for node in NODES}
    pods = {pod: web[address] for pod, address in net.addresses.items()}

    def answers(pod: str, service: str) -> set[str]:
        asked = f"for n in 1 2 3 4 5 6 7 8; do timeout 3 wget -qO- http://{service}/; done"
        return {pods[name] for name in net.inside(pod, asked)[1].split()}

    zones = ({NODES[0], NODES[2]}, {NODES[1]})
    for pod, node in pods.items():
        (own,) = (zone for zone in zones if node in zone)
        until(partial(lambda pod, own: answers(pod, "near") == own, pod, own))
        until(partial(lambda pod, node: answers(pod, "nearest") == {node}, pod, node))


def test_the_outside(net: Net, tmp_path: Path) -> None:
    """Pods get out, with this machine's address; nobody gets in to nodes but this machine."""
    (tmp_path / "index.html").write_text("web-outside")
    node = network.address(net.setting("node_range"), 0)
    with net.machine.serving(tmp_path, 8099):
        until(lambda: net.fetches("look", f"{OUTSIDE}:8099"))
    command("ip", "-netns", net.machine.outside, "route", "add", net.setting("node_range"), "via", ADDRESS)
    until(lambda: net.from_here(f"{node}:30123"))
    assert not net.machine.answers(f"{node}:30123")


def test_rules_that_others_remove_from_this_machine_come_back(net: Net) -> None:
    """As a firewall does that starts again."""
    address, comment = net.balancer("balanced"), bridge.comment(NAME)
    until(lambda: net.from_here(address))
    command("nft", "delete", "table", "ip", network.bridge_name(NAME))
    command("iptables", "-t", "nat", "-F", "POSTROUTING")
    until(lambda: comment in command("iptables-save", "-t", "nat"))
    until(lambda: net.from_here(address))


def test_pods_reach_nothing_of_this_machine_but_the_api_and_names(net: Net) -> None:
    """Its packet filter lets nobody in, and the cluster changes that for its two ports alone."""
    gateway, port = network.gateway(net.setting("node_range")), net.setting("port")
    with socket.create_server((gateway, 8077)):
        knock = "nc -w 2 {} {} </dev/null && echo open"
        until(lambda: "open" in net.inside("look", knock.format(gateway, port))[1])
        until(lambda: "open" in net.inside("look", knock.format(gateway, net.setting("dns_port")))[1])
        assert "open" not in net.inside("look", knock.format(gateway, 8077))[1]
        assert "open" not in net.inside("look", knock.format(ADDRESS, port))[1]


def test_services_are_asked_before_the_ports_of_pods(net: Net) -> None:
    """CVE-2019-9946: rules for ports of the node that pods have must not take packets away from services."""
    net.use("iptables", "vxlan")
    inside = ("ip", "netns", "exec", network.namespace(NAME, NODES[0]))
    rules = command(*inside, "iptables-save", "-t", "nat").splitlines()
    first = [rule.split()[-1] for rule in rules if rule.startswith("-A PREROUTING ")]
    assert first.index("KUBE-SERVICES") < first.index("CNI-HOSTPORT-DNAT")


def test_what_a_pod_sees(net: Net) -> None:
    """The seeds' sequence: the environment, the resolver, short and long names, a page by a service's name."""
    _, environment = net.inside("look", "env")
    assert "FOO_SERVICE_HOST=10.96." in environment and "KUBERNETES_PORT=tcp://10.96.0.1:443" in environment
    _, resolver = net.inside("look", "cat /etc/resolv.conf")
    assert "nameserver 10.96.0.10" in resolver and "options ndots:5" in resolver
    assert "search default.svc.cluster.local svc.cluster.local cluster.local" in resolver
    # Short names, with the namespace and without. (This nslookup knows no search path, so it gets long names.)
    for name in ("foo", "foo.default"):
        net.prints(
            f"timeout 20 wget -O /dev/null http://{name}/ 2>&1",
            f"Connecting to {name} ({net.clusterip('foo')}:80)",
        )
    net.prints("nslookup -type=a foo.default.svc.cluster.local", "10.96.0.10:53", "Address: 10.96.")
    net.prints("nslookup -type=a heads.default.svc.cluster.local", *net.addresses.values())
    net.prints("nslookup -type=a nothing.default.svc.cluster.local", "NXDOMAIN")
    net.prints(
        "nslookup -type=srv _http._tcp.foo.default.svc.cluster.local",
        "0 100 80 foo.default.svc.cluster.local",
    )


@contextmanager
def nothing_leaks() -> Iterator[None]:
    """Yield no packet for a pod or a service is to be seen on the bridge meanwhile, where this machine would route it."""
    table = f"leaks_{NAME}"
    rules = (
        f"table inet {table} {{\n chain seen {{\n type filter hook prerouting priority -300;\n"
        f' iifname "{network.bridge_name(NAME)}" ip daddr {{ 10.244.0.0/16, 10.96.0.0/16 }} counter\n }}\n}}\n'
    )
    subprocess.run(["nft", "-f", "-"], input=rules, text=True, check=True)
    try:
        yield
        listed = subprocess.run(
            ["nft", "list", "table", "inet", table], capture_output=True, text=True
        ).stdout
        assert "counter packets 0 bytes 0" in listed
    finally:
        subprocess.run(["nft", "delete", "table", "inet", table], check=True)


def test_links_that_were_cut_carry_again(net: Net) -> None:
    net.use("iptables", "vxlan")
    with nothing_leaks():
        _cut_and_wait(net)


def _cut_and_wait(net: Net) -> None:
    away = next(
        node for node in NODES if node != net.kubectl("get", "pod", "look", "-o", "jsonpath={.spec.nodeName}")
    )
    address = net.nodes[away]
    until(lambda: net.fetches("look", address))
    cable = network.link_name(NAME, away)
    subprocess.run(["ip", "link", "set", cable, "down"], check=True)
    try:
        until(lambda: not net.fetches("look", address))
    finally:
        subprocess.run(["ip", "link", "set", cable, "up"], check=True)
    until(lambda: net.fetches("look", address))
    # Somebody takes the overlay away on the node itself.
    inside = ["ip", "-netns", network.namespace(NAME, away), "link", "delete", "pyb-vxlan"]
    subprocess.run(inside, check=True)
    until(lambda: net.fetches("look", address))
    until(lambda: net.fetches("look", "foo"))


def test_a_node_that_is_cut_off_from_another_is_reached_by_the_third(net: Net) -> None:
    net.use("iptables", "vxlan")
    here = net.kubectl("get", "pod", "look", "-o", "jsonpath={.spec.nodeName}")
    away, third = (node for node in NODES if node != here)
    net.pyb("node", "partition", away, "--from", here)
    try:
        until(lambda: not net.fetches("look", net.nodes[away]))
        assert net.fetches("look", net.nodes[third])
        assert f"{away} (ready, cut off from {here})" in net.pyb("status")
    finally:
        net.pyb("node", "heal", away)
    until(lambda: net.fetches("look", net.nodes[away]))


@pytest.mark.parametrize("mode, cni", [("nftables", "cloud"), ("userspace", "host-gw")])
def test_other_modes(net: Net, mode: str, cni: str) -> None:
    """The same in the other modes of kube-proxy, and without an overlay, for the same cluster."""
    net.use(mode, cni)
    everybody_reaches_everybody(net)
