"""A node on the network of the machine itself, which is as it was before once the cluster is deleted."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from pybernetes.tools.local.network.host_network import removal
from tests.support import require_program, require_root, until
from tests.tools.local.host import ADDRESS, OUTSIDE, host
from tests.tools.local.net import NAME, Net

CNI = r"""*nat
:PREROUTING ACCEPT [0:0]
:CNI-0123456789abcdef01234567 - [0:0]
:CNI-DN-0123456789abcdef01234 - [0:0]
:CNI-HOSTPORT-DNAT - [0:0]
:CNI-HOSTPORT-MASQ - [0:0]
-A PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT
-A POSTROUTING -j CNI-HOSTPORT-MASQ
-A POSTROUTING -s 10.244.0.2/32 -m comment --comment "name: \"pybernetes\" id: \"1\"" -j CNI-0123456789abcdef01234567
-A POSTROUTING -s 172.16.0.0/16 -j MASQUERADE
-A CNI-0123456789abcdef01234567 ! -d 224.0.0.0/4 -j MASQUERADE
-A CNI-DN-0123456789abcdef01234 -p tcp -j DNAT --to-destination 10.244.0.2:80
-A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \"pybernetes\" id: \"1\"" -j CNI-DN-0123456789abcdef01234
COMMIT
"""
OTHERS = '-A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \\"podman\\"" -j CNI-DN-aaaaaaaaaaaaaaaaaaaaa\n'


@pytest.mark.parametrize("others", [False, True])
def test_rules_of_pods_go(others: bool) -> None:
    """Chains that another network uses too stay."""
    text = list(removal(CNI.replace("COMMIT\n", OTHERS + "COMMIT\n") if others else CNI))
    assert ("-X CNI-HOSTPORT-DNAT" in text) is not others
    assert ("-D POSTROUTING -j CNI-HOSTPORT-MASQ" in text) is not others
    assert "-X CNI-0123456789abcdef01234567" in text and "-X CNI-DN-0123456789abcdef01234" in text
    assert not any("172.16" in line or "podman" in line for line in text)
    assert list(removal("*nat\n:PREROUTING ACCEPT [0:0]\nCOMMIT\n")) == []


@pytest.mark.slow
@pytest.mark.e2e
def test_a_node_on_the_machine_itself(tmp_path: Path) -> None:
    require_root()
    for program in ("kubectl", "containerd", "busybox", "curl", "iptables", "nft"):
        require_program(program)
    with host(f"host{NAME}") as machine:
        net = Net(tmp_path, machine)
        try:
            net.pyb("up", NAME, "--nodes", "1", "--host-network", "--wait")
            net.fill()
            (pod,) = net.addresses.values()
            service, balancer, local = net.clusterip("foo"), net.balancer("balanced"), net.balancer("local")
            until(lambda: net.fetches("look", pod, service, "foo", balancer, f"{ADDRESS}:30123"))
            for url in (pod, service, balancer, local, f"{ADDRESS}:8081", "127.0.0.1:30123"):
                until(partial(net.from_here, url))
            for url in (f"{ADDRESS}:8081", f"{ADDRESS}:30123"):
                until(partial(machine.is_answered, url))
            (tmp_path / "index.html").write_text("web-outside")
            with machine.serving(tmp_path, 8099):
                until(lambda: net.fetches("look", f"{OUTSIDE}:8099"))
        finally:
            net.pyb("delete", NAME)
