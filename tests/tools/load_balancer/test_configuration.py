"""Configurations of HAProxy and keepalived, judged by the programs themselves."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from pybernetes.api import quantity
from pybernetes.lib.tls import tls
from pybernetes.tools.load_balancer import haproxy, keepalived, pods
from pybernetes.tools.load_balancer.plan import LoadBalancerError, Plan, Server
from tests.support import require_program, require_root

SERVERS = tuple(Server(f"cp-{number}", f"10.9.0.{10 + number}") for number in range(3))
PLAN = Plan("10.9.0.100", SERVERS)


def certificates(folder: Path) -> None:
    """Make what kubeadm makes, as far as HAProxy reads it."""
    tls.ensure_authority(folder)
    authority = tls.Pair((folder / "ca.crt").read_bytes(), (folder / "ca.key").read_bytes())
    for name, server in (("apiserver", True), ("front-proxy-client", False)):
        hosts = ["kubernetes", "127.0.0.1"] if server else []
        pair = tls.issue(authority, name, names=hosts, server=server, client=not server)
        (folder / f"{name}.crt").write_bytes(pair.certificate)
        (folder / f"{name}.key").write_bytes(pair.key)


@pytest.mark.parametrize("form", haproxy.FORMS)
def test_haproxy_takes_its_configuration(form: str, tmp_path: Path) -> None:
    certificates(tmp_path)
    file = tmp_path / "haproxy.cfg"
    for plan in (PLAN, replace(PLAN, address="fd00::1", servers=(Server("a", "fd00::2"),))):
        file.write_text(haproxy.configuration(replace(plan, certificates=str(tmp_path)), form))
        done = subprocess.run(
            [require_program("haproxy"), "-c", "-f", str(file)], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_keepalived_takes_its_configuration(tmp_path: Path) -> None:
    require_root()
    file = tmp_path / "keepalived.conf"
    test = (require_program("keepalived"), "--config-test", "--use-file", str(file))
    # A namespace of its own has the interface that the file names.
    script = 'ip link add eth0 type bridge && ip address add 10.9.0.11/24 dev eth0 && exec "$@"'

    def complaints(text: str) -> str:
        file.write_text(text)
        command = ["unshare", "--net", "sh", "-c", script, "sh", *test]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60).stderr

    own = keepalived.configuration(PLAN, "cp-1")
    assert complaints(own) == ""
    secret = keepalived.configuration(replace(PLAN, password="abcDEF12"), "cp-1")
    assert "vrrp_version 2" in secret and "auth_pass abcDEF12" in secret and complaints(secret) == ""
    assert "Unknown keyword" in complaints(own.replace("nopreempt", "nopreemption"))


def test_each_machine_has_a_priority_of_its_own() -> None:
    files = [keepalived.configuration(PLAN, server.name) for server in SERVERS]
    assert [
        f"priority {priority}\n" in file for priority, file in zip((254, 253, 252), files, strict=True)
    ] == [True] * 3
    for server, file in zip(SERVERS, files, strict=True):
        peers = file.split("unicast_peer {")[1].split("}")[0].split()
        others = [other.address for other in SERVERS if other is not server]
        assert peers == [word for address in others for word in (address, "min_ttl", "255", "max_ttl", "255")]
    with pytest.raises(LoadBalancerError, match="no server 'cp-9'"):
        keepalived.configuration(PLAN, "cp-9")


@pytest.mark.parametrize(
    "change",
    [
        {"address": "10.9.0.100\n"},
        {"address": "10.9.0.10"},  # a server's own
        {"address": "example.com"},
        {"servers": ()},
        {"password": "abc}\n{de"},
        {"password": "short"},
        {"servers": (Server("a b", "10.9.0.1"),)},
        {"servers": (Server("a", "10.9.0.1"), Server("a", "10.9.0.2"))},
        {"servers": (Server("a", "10.9.0.1"), Server("b", "10.9.0.1"))},
        {"servers": (Server("a", "10.9.0.1", 0),)},
        {"port": 6443},  # the API servers' own
        {"port": 8404},  # that of health
        {"port": 70000},
        {"interface": "eth0\n}"},
        {"router": 0},
        {"certificates": "/etc/kubernetes/pki }"},
    ],
)
def test_what_cannot_be_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(LoadBalancerError):
        replace(PLAN, **change)  # type: ignore[arg-type]


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(LoadBalancerError, match="'l5' is none of l4, l7"):
        haproxy.configuration(PLAN, "l5")


def test_pods_may_do_what_they_must_and_no_more() -> None:
    address = pods.address("keepalived:1")
    for form, keys in (("l4", set()), ("l7", {"apiserver.key", "front-proxy-client.key"})):
        balancer = pods.balancer(PLAN, form, "haproxy:1")
        (container,) = balancer["spec"]["containers"]
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        paths = [volume["hostPath"]["path"] for volume in balancer["spec"]["volumes"]]
        assert {path.rpartition("/")[2] for path in paths if path.endswith(".key")} == keys
        assert "/etc/kubernetes/pki" not in paths and "/etc/kubernetes/pki/ca.crt" in paths
    (container,) = address["spec"]["containers"]
    # What outlives its container would keep the next one from starting, and the address on two machines.
    assert all("emptyDir" not in volume for volume in address["spec"]["volumes"])
    assert "SYS_ADMIN" not in container["securityContext"]["capabilities"]["add"]
    assert balancer["spec"]["hostNetwork"] and address["spec"]["hostNetwork"]
    # On a busy machine they get their turn before three adverts are missing, and the script before its time is up.
    asked = [pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] for pod in (balancer, address)]
    assert [quantity.parse(cpu) >= quantity.parse("100m") for cpu in asked] == [True, True]
