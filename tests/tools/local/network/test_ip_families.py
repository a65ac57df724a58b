"""Ranges of both families, and clusters that have both or IPv6 alone, with real containers."""

from __future__ import annotations

import ipaddress
import json
import os
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pybernetes.tools.local.network import ip_families, network
from pybernetes.tools.local.network.ip_families import bracketed
from tests.node.kubelet.real_node import IMAGE, busybox
from tests.node.proxy.namespaces import command
from tests.support import require_program, require_root, until
from tests.tools.local import matrix
from tests.tools.local.host import OUTSIDE, Host, host
from tests.tools.local.user import User

NAME = f"families{os.getpid() % 100000}"
SERVE = "mkdir /www; hostname > /www/index.html; exec httpd -f -p '[::]:80' -h /www"
ENDS_WELL = {"terminationGracePeriodSeconds": 1}


def test_every_cluster_has_ranges_of_its_own() -> None:
    texts = [
        choose(name)
        for name in ("a", "b")
        for choose in (ip_families.node_range, ip_families.pod_range, ip_families.service_range)
    ]
    ranges = [ipaddress.IPv6Network(text) for text in texts]
    assert all(own.is_private and own.subnet_of(ipaddress.IPv6Network("fd00::/8")) for own in ranges)
    assert not any(own.overlaps(other) for own in ranges for other in ranges if own is not other)
    assert ip_families.pod_range("a") == ip_families.pod_range("a")


@pytest.mark.parametrize(
    ("given", "family", "expected"),
    [
        ("10.0.0.0/16", "ipv4", "10.0.0.0/16"),
        ("10.0.0.0/16", "dual", "10.0.0.0/16,fd00::/56"),
        ("10.9.0.0/16", "dual", "10.9.0.0/16,fd00::/56"),
        ("fd01::/56", "dual", "10.0.0.0/16,fd01::/56"),
        ("fd01::/56,10.9.0.0/16", "dual", "10.9.0.0/16,fd01::/56"),
        ("10.0.0.0/16", "ipv6", "fd00::/56"),
        ("fd01::/56", "ipv6", "fd01::/56"),
        ("10.9.0.0/16", "ipv6", "which a cluster with the IP family ipv6 does not have"),
        ("10.9.0.0/16,10.8.0.0/16", "dual", "two ranges of IPv4"),
        ("nonsense", "dual", "nonsense"),
    ],
)
def test_ranges_are_completed(given: str, family: str, expected: str) -> None:
    try:
        result = ip_families.completed(given, family, "fd00::/56", "10.0.0.0/16")
    except ValueError as error:
        assert expected in str(error)
    else:
        assert result == expected
        assert ip_families.completed(result, family, "fd00::/56", "10.0.0.0/16") == result  # nothing to add


def objects(policy: str) -> list[dict[str, Any]]:
    """Return a web server on every node, behind services of all kinds, and a pod to look from."""
    labels, port = {"app": "web"}, {"name": "http", "port": 80}
    container = {"name": "c", "image": IMAGE, "imagePullPolicy": "Never"}
    pod = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{**container, "command": ["sh", "-c", SERVE]}], **ENDS_WELL},
    }
    look = {**container, "command": ["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 1; done"]}
    common = {"selector": labels, "ports": [port], "ipFamilyPolicy": policy}
    services = {
        "plain": common,
        "heads": {**common, "clusterIP": "None"},
        "door": {**common, "ports": [{**port, "nodePort": 30123}], "type": "NodePort"},
        "balanced": {**common, "type": "LoadBalancer"},
        "local": {**common, "type": "LoadBalancer", "externalTrafficPolicy": "Local"},
    }
    if policy != "SingleStack":
        services["single"] = {**common, "ipFamilyPolicy": "SingleStack", "ipFamilies": ["IPv6"]}
    spec = {"selector": {"matchLabels": labels}, "template": pod}
    return [
        {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "web"}, "spec": spec},
        *(
            {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}
            for name, spec in services.items()
        ),
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "look"}, "spec": {"containers": [look], **ENDS_WELL}},
    ]  # fmt: skip


class Families(User):
    """A cluster of two nodes, and what can be tried in it."""

    machine: Host

    def fill(self, home: Path, policy: str) -> None:
        """Make the objects and wait for the pods."""
        (home / "image.tar").write_bytes(busybox())
        self.pyb("image", "load", str(home / "image.tar"), "--cluster", NAME)
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects(policy)})
        (home / "objects.json").write_text(text)
        self.kubectl("apply", "-f", str(home / "objects.json"))
        self.kubectl("rollout", "status", "daemonset/web", f"--timeout={self.patience // 2}s")
        self.kubectl("wait", "--for=condition=Ready", "pod/look", f"--timeout={self.patience // 2}s")

    def read(self, *what: str) -> Any:
        """Return an object."""
        return json.loads(self.kubectl("get", *what, "-o", "json"))

    def inside(self, command: str) -> str:
        """Return what a command prints in the pod."""
        words = ["kubectl", "exec", "look", "--", "sh", "-c", command]
        seconds = self.patience // 2
        return subprocess.run(
            words, env=self.environment, capture_output=True, text=True, timeout=seconds
        ).stdout

    def fetches(self, *places: str) -> bool:
        """Return whether the pod gets the page of each of these."""
        tries = "; ".join(f"timeout 3 wget -qO- http://{place}/" for place in places)
        return self.inside(tries).count("web-") == len(places)

    def everybody_is_reached(self, versions: set[int]) -> None:
        """Check that all is reached by each of the families, and has addresses of no other."""
        for pod in self.read("pods", "-l", "app=web")["items"]:
            addresses = [entry["ip"] for entry in pod["status"]["podIPs"]]
            assert versions_of(addresses) == versions
            assert versions_of(entry["ip"] for entry in pod["status"]["hostIPs"]) == versions
            until(partial(self.fetches, *map(bracketed, addresses)))
        clusterips = self.read("service", "plain")["spec"]["clusterIPs"]
        assert versions_of(clusterips) == versions
        until(partial(self.fetches, *map(bracketed, clusterips), "plain", "heads", "single"))
        names = {4: ("a", "10."), 6: ("aaaa", "fd")}
        for version, (kind, prefix) in names.items():
            for name in ("plain", "heads"):
                asked = f"nslookup -type={kind} {name}.default.svc.cluster.local"
                if version in versions:
                    until(
                        partial(lambda asked, text: text in self.inside(asked), asked, f"Address: {prefix}")
                    )
                else:
                    assert "Address: " + prefix not in self.inside(asked)
        for node in self.read("nodes")["items"]:
            addresses = [
                entry["address"] for entry in node["status"]["addresses"] if entry["type"] == "InternalIP"
            ]
            assert versions_of(addresses) == versions
            for address in addresses:
                until(partial(from_here, f"{bracketed(address)}:30123"))
                until(partial(self.fetches, f"{bracketed(address)}:30123"))
            port = self.read("service", "local")["spec"]["healthCheckNodePort"]
            for address in addresses:  # load balancers ask there
                until(partial(answers, f"{bracketed(address)}:10256/healthz", "nodeEligible"))
                until(partial(answers, f"{bracketed(address)}:{port}/healthz", '"localEndpoints": 1'))
        for name in ("balanced", "local"):
            until(partial(self.is_balanced, name, versions))
            for address in self.balanced(name):
                until(partial(from_here, bracketed(address)))

    def is_balanced(self, name: str, versions: set[int]) -> bool:
        """Return whether a service's load balancer has an address of each family."""
        return versions_of(self.balanced(name)) == versions

    def balanced(self, name: str) -> list[str]:
        """Return the addresses of a service's load balancer."""
        ingresses = self.read("service", name)["status"]["loadBalancer"].get("ingress") or ()
        return [entry["ip"] for entry in ingresses]

    def gets_out(self, cluster_range: str) -> str:
        """Return the address that the pod has for this machine when it asks it something by IPv6."""
        address = network.gateway(cluster_range)
        with socket.create_server((address, 8077), family=socket.AF_INET6) as server:
            server.settimeout(20)
            self.inside(f"timeout 1 nc {address} 8077 </dev/null")
            connection, caller = server.accept()
            connection.close()
            return caller[0]

    @contextmanager
    def outside(self, folder: Path) -> Iterator[Mapping[int, str]]:
        """Yield the places of a web server beyond the machine, whose owner makes it a router of IPv6."""
        (folder / "index.html").write_text("web-outside")
        inside, outside = ("ip",), ("ip", "-netns", self.machine.outside)
        links = ((inside, "fd77::2/64"), (outside, "fd77::1/64"))
        try:
            for ip, address in links:
                command(*ip, "address", "add", address, "dev", "eth0", "nodad")
            command("sysctl", "-q", "-w", "net.ipv6.conf.all.forwarding=1")
            with self.machine.serving(folder, 8099):
                yield {4: f"{OUTSIDE}:8099", 6: "[fd77::1]:8099"}
        finally:
            command("sysctl", "-q", "-w", "net.ipv6.conf.all.forwarding=0")
            for ip, address in links:
                command(*ip, "address", "delete", address, "dev", "eth0")


def versions_of(addresses: Any) -> set[int]:
    """Return the versions of addresses, of which there are no two of one."""
    versions = [ipaddress.ip_address(address).version for address in addresses]
    assert len(versions) == len(set(versions))
    return set(versions)


def answers(place: str, text: str) -> bool:
    """Return whether this machine gets a page that says a text."""
    done = subprocess.run(["curl", "-s", "-m", "2", f"http://{place}"], capture_output=True, text=True)
    return text in done.stdout


def from_here(place: str) -> bool:
    """Return whether this machine gets the page of a web server."""
    return answers(f"{place}/", "web-")


@contextmanager
def cluster(home: Path, family: str, policy: str, *more: str) -> Iterator[Families]:
    """Yield a cluster of a family on a machine of its own, which it leaves as it was."""
    require_root()
    for program in ("kubectl", "containerd", "busybox", "curl", "ip6tables", "nft"):
        require_program(program)
    with host(f"host{NAME}") as machine:
        forwarding = _forwarding()
        user = Families(home)
        user.machine = machine
        try:
            user.pyb("up", NAME, "--nodes", "2", "--ip-family", family, f"--wait={user.patience}", *more)
            user.fill(home, policy)
            yield user
        finally:
            user.pyb("delete", NAME)
        assert _forwarding() == forwarding


def _forwarding() -> str:
    return subprocess.run(
        ["sysctl", "-n", "net.ipv6.conf.all.forwarding"], capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.slow
@pytest.mark.e2e
def test_both_families(tmp_path: Path) -> None:
    with cluster(tmp_path, "dual", "RequireDualStack") as user:
        user.everybody_is_reached({4, 6})
        caller = user.gets_out(ip_families.node_range(NAME))
        nodes = ipaddress.IPv6Network(ip_families.node_range(NAME))
        assert ipaddress.IPv6Address(caller) in nodes  # its node's, not its own
        with user.outside(tmp_path) as external:
            for version in (4, 6):
                assert matrix.measure(user, NAME, version, external[version]) == matrix.wanted()
        assert "which stays" in user.pyb("up", NAME, "--ip-family", "ipv4", code=1)


@pytest.mark.slow
@pytest.mark.e2e
def test_ipv6_alone(tmp_path: Path) -> None:
    """The same without IPv4, in another mode of kube-proxy and without an overlay; PreferDualStack gets what there is."""
    with cluster(tmp_path, "ipv6", "PreferDualStack", "--proxy-mode", "nftables", "--cni", "host-gw") as user:
        user.everybody_is_reached({6})
        caller = user.gets_out(ip_families.node_range(NAME))
        assert ipaddress.IPv6Address(caller) in ipaddress.IPv6Network(ip_families.node_range(NAME))
        assert "10.96." not in user.inside("env; cat /etc/resolv.conf")
        refused = {"spec": {"ipFamilyPolicy": "RequireDualStack", "ports": [{"port": 80}]}}
        (tmp_path / "refused.json").write_text(
            json.dumps({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "both"}, **refused})
        )
        said = user.run("kubectl", "apply", "-f", str(tmp_path / "refused.json"), code=1)
        assert "this cluster is not configured for dual-stack services" in said
