"""What the mode iptables writes."""

from __future__ import annotations

from dataclasses import replace

from pybernetes.node.proxy.change_tracker import Change
from pybernetes.node.proxy.iptables.chains import chain_name
from pybernetes.node.proxy.iptables.iptables import Iptables
from tests.node.proxy.service_ports import SERVICE_PORT, SETTINGS, A, B

SVC = chain_name("SVC", "default/web:http", "tcp")
_TO_B = f"-p tcp -m tcp -j DNAT --to-destination {B}"
_NOT_LOCAL = (
    '! -s 10.244.0.0/16 -d 10.96.0.10 -p tcp -m tcp --dport 80 -m comment --comment "default/web:http cluster IP" '
    "-j KUBE-MARK-MASQ"
)


def test_only_what_changed_is_written() -> None:
    backend = Iptables(SETTINGS, 4)
    backend.difference([Change(None, SERVICE_PORT)])
    after = replace(SERVICE_PORT, cluster=(B,))
    lines = backend.difference([Change(SERVICE_PORT, after)]).splitlines()
    assert lines == [
        "*nat", f":{SVC} - [0:0]", f"-A {SVC} {_NOT_LOCAL}", f"-A {SVC} {_TO_B}",
        f"-D KUBE-HAIRPIN -s {A.ip} -d {A.ip} -j MASQUERADE --random-fully", "COMMIT",
    ]  # fmt: skip
    assert backend.difference([Change(after, after)]) == ""
