"""Three nodes on one machine: pods, services and names reach each other, and again after links were cut."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pybernetes.tools.local import network
from tests.node.kubelet.real_node import IMAGE, busybox
from tests.node.proxy.namespaces import command
from tests.support import require_program, require_root
from tests.tools.local.host import ADDRESS, OUTSIDE, Host, host
from tests.tools.local.user import User

pytestmark = [pytest.mark.slow, pytest.mark.e2e]
NAME = f"net{os.getpid() % 100000}"
NODES = (NAME, f"{NAME}-2", f"{NAME}-3")
SERVE = "mkdir /www; hostname > /www/index.html; exec httpd -f -p 80 -h /www"
ENDS_WELL = {"terminationGracePeriodSeconds": 1}


def objects() -> list[dict[str, Any]]:
    """A web server on every node, behind services of several kinds, and a pod to look from."""
    labels, port = {"app": "web"}, {"name": "http", "port": 80}
    container = {"name": "c", "image": IMAGE, "imagePullPolicy": "Never"}
    web = {**container, "command": ["sh", "-c", SERVE], "ports": [{"containerPort": 80, "hostPort": 8081}]}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [web], **ENDS_WELL}}
    services = {
        "foo": {"selector": labels, "ports": [port]},
        "heads": {"selector": labels, "ports": [port], "clusterIP": "None"},
        "door": {"selector": labels, "ports": [{**port, "nodePort": 30123}], "type": "NodePort"},
        "balanced": {"selector": labels, "ports": [port], "type": "LoadBalancer"},
        "local": {
            "selector": labels,
            "ports": [port],
            "type": "LoadBalancer",
            "externalTrafficPolicy": "Local",
        },
        "closed": {"selector": {"app": "nobody"}, "ports": [port]},
        "alias": {"type": "ExternalName", "externalName": "foo.default.svc.cluster.local"},
    }
    look = {**container, "command": ["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 1; done"]}
    spec = {"selector": {"matchLabels": labels}, "template": pod}
    return [
        {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "web"}, "spec": spec},
        *(
            {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}
            for name, spec in services.items()
        ),
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "look", "namespace": "default"},
         "spec": {"containers": [look], **ENDS_WELL}},
    ]  # fmt: skip


class Net(User):
    """The cluster, and what can be tried in it."""

    addresses: dict[str, str]  # of the web servers, by pod
    nodes: dict[str, str]  # of the web servers, by node

    def __init__(self, home: Path, machine: Host) -> None:
        super().__init__(home)
        self.home, self.machine = home, machine

    def fill(self) -> None:
        """Makes the objects and waits for the pods."""
        (self.home / "image.tar").write_bytes(busybox())
        self.pyb("image", "load", str(self.home / "image.tar"))
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects()})
        (self.home / "objects.json").write_text(text)
        self.kubectl("apply", "-f", str(self.home / "objects.json"))
        self.look()

    def look(self) -> None:
        """Waits for the pods and takes note of their addresses."""
        self.kubectl("rollout", "status", "daemonset/web", "--timeout=60s")
        self.kubectl("wait", "--for=condition=Ready", "pod/look", "--timeout=60s")
        pods = json.loads(self.kubectl("get", "pods", "-l", "app=web", "-o", "json"))["items"]
        self.addresses = {pod["metadata"]["name"]: pod["status"]["podIP"] for pod in pods}
        self.nodes = {pod["spec"]["nodeName"]: pod["status"]["podIP"] for pod in pods}

    def setting(self, name: str) -> Any:
        path = Path(self.environment["PYBERNETES_HOME"]) / f"clusters/{NAME}/cluster.json"
        return json.loads(path.read_text())[name]

    def clusterip(self, service: str) -> str:
        return self.kubectl("get", "service", service, "-o", "jsonpath={.spec.clusterIP}")

    def balancer(self, service: str) -> str:
        """The address that a service of type LoadBalancer got."""
        given = ("get", "service", service, "-o", "jsonpath={.status.loadBalancer.ingress[0].ip}")
        self.until("172.30.", *given)
        return self.kubectl(*given)

    def from_here(self, url: str) -> bool:
        done = subprocess.run(["curl", "-s", "-m", "2", f"http://{url}/"], capture_output=True, text=True)
        return done.stdout.startswith("web-")

    def inside(self, pod: str, command: str) -> tuple[int, str]:
        done = subprocess.run(
            ["kubectl", "exec", pod, "--", "sh", "-c", command],
            env=self.environment, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        return done.returncode, done.stdout

    def prints(self, command: str, *wanted: str) -> None:
        """Waits until a command prints all of this: a question by UDP may get lost."""
        self.wait(lambda: all(each in self.inside("look", command)[1] for each in wanted))

    def fetches(self, pod: str, *urls: str) -> bool:
        """Whether a pod gets the page of each of these."""
        tries = " && ".join(f"timeout 3 wget -qO- http://{url}/" for url in urls)
        code, answer = self.inside(pod, tries)
        return code == 0 and answer.count("web-") == len(urls)

    def on_node(self, node: str, url: str) -> bool:
        namespace = network.namespace(NAME, node)
        command = ["ip", "netns", "exec", namespace, "curl", "-s", "-m", "2", f"http://{url}/"]
        return subprocess.run(command, capture_output=True, text=True).stdout.startswith("web-")

    def wait(self, condition: Callable[[], Any], wanted: bool = True) -> None:
        deadline = time.monotonic() + 60
        while bool(condition()) is not wanted:
            assert time.monotonic() < deadline, "it did not come to pass"
            time.sleep(0.1)


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
            net.pyb("up", NAME, "--nodes", "3", "--wait")
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
        net.wait(lambda pod=pod, urls=urls: net.fetches(pod, *urls))
    for number, node in enumerate(NODES):
        own = network.address(net.setting("node_range"), number)
        for url in (service, f"{own}:8081", *net.addresses.values()):
            net.wait(lambda node=node, url=url: net.on_node(node, url))
        # From outside: this machine is on no node.
        for url in (f"{own}:30123", f"{own}:8081"):
            net.wait(lambda url=url: net.from_here(url))
    for balanced in ("balanced", "local"):
        address = net.balancer(balanced)
        net.wait(lambda address=address: net.from_here(address))
    code, _ = net.inside("look", "timeout 20 wget -qO- http://closed/")
    assert code not in (0, 143)  # refused at once, and not after a while


def test_everybody_reaches_everybody(net: Net) -> None:
    everybody_reaches_everybody(net)


def test_the_outside(net: Net, tmp_path: Path) -> None:
    """Pods get out, with this machine's address; nobody gets in to nodes but this machine."""
    (tmp_path / "index.html").write_text("web-outside")
    node = network.address(net.setting("node_range"), 0)
    with net.machine.serving(tmp_path, 8099):
        net.wait(lambda: net.fetches("look", f"{OUTSIDE}:8099"))
    command("ip", "-netns", net.machine.outside, "route", "add", net.setting("node_range"), "via", ADDRESS)
    net.wait(lambda: net.from_here(f"{node}:30123"))
    assert not net.machine.answers(f"{node}:30123")


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
    """No packet for a pod or a service is to be seen on the bridge meanwhile, where this machine would route it."""
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
    with nothing_leaks():
        _cut_and_wait(net)


def _cut_and_wait(net: Net) -> None:
    away = next(
        node for node in NODES if node != net.kubectl("get", "pod", "look", "-o", "jsonpath={.spec.nodeName}")
    )
    address = net.nodes[away]
    net.wait(lambda: net.fetches("look", address))
    cable = network.link_name(NAME, away)
    subprocess.run(["ip", "link", "set", cable, "down"], check=True)
    try:
        net.wait(lambda: net.fetches("look", address), wanted=False)
    finally:
        subprocess.run(["ip", "link", "set", cable, "up"], check=True)
    net.wait(lambda: net.fetches("look", address))
    # Somebody takes the overlay away on the node itself.
    inside = ["ip", "-netns", network.namespace(NAME, away), "link", "delete", "pyb-vxlan"]
    subprocess.run(inside, check=True)
    net.wait(lambda: net.fetches("look", address))
    net.wait(lambda: net.fetches("look", "foo"))


@pytest.mark.parametrize("mode, cni", [("nftables", "vxlan"), ("userspace", "host-gw")])
def test_other_modes(net: Net, mode: str, cni: str) -> None:
    """The same in the other modes of kube-proxy, and without an overlay, for the same cluster."""
    net.pyb("down", NAME)
    net.pyb("up", NAME, "--proxy-mode", mode, "--cni", cni, "--wait")

    # What the API says of the pods may be of the time before.
    def again() -> bool:
        net.look()
        return all(net.fetches(pod, address) for pod, address in net.addresses.items())

    net.wait(again)
    everybody_reaches_everybody(net)
