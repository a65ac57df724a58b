"""The rules of the mode ipvs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pybernetes.node.proxy.ipvs import rules
from pybernetes.node.proxy.local_traffic import LocalTraffic
from tests.node.proxy.service_ports import SETTINGS


def _services(**changes: object) -> list[str]:
    return rules.chains(replace(SETTINGS, **changes), 4)["nat"]["KUBE-IPVS-SERVICES"]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "! -s 10.244.0.0/16 -m set --match-set KUBE-CLUSTER-IP dst,dst -j KUBE-IPVS-MARK-MASQ"),
        ({"masquerade_all": True}, "-m set --match-set KUBE-CLUSTER-IP dst,dst -j KUBE-IPVS-MARK-MASQ"),
        (
            {"local": LocalTraffic(interface="cni0")},
            "! -i cni0 -m set --match-set KUBE-CLUSTER-IP dst,dst -j KUBE-IPVS-MARK-MASQ",
        ),
        ({"local": LocalTraffic()}, "-m set --match-set KUBE-CLUSTER-IP src,dst -j KUBE-IPVS-MARK-MASQ"),
    ],
)
def test_what_is_masqueraded_on_its_way_to_a_cluster_ip(changes: dict[str, object], expected: str) -> None:
    assert expected in _services(**changes)


def test_sets_are_those_of_the_family() -> None:
    text = rules.restore(SETTINGS, 6, "")
    assert "KUBE-6-CLUSTER-IP" in text and "KUBE-CLUSTER-IP" not in text


def test_jumps_are_put_in_once_and_taken_out() -> None:
    text = rules.restore(SETTINGS, 4, "")
    assert text.count("\n-I ") == len(rules.JUMPS)
    saved = text.replace("-I ", "-A ")
    assert "\n-I " not in rules.restore(SETTINGS, 4, saved)
    gone = rules.removal(saved).splitlines()
    assert sum(line.startswith("-D ") for line in gone) == len(rules.JUMPS)
    assert {line[3:] for line in gone if line.startswith("-X")} == {
        line[1:].split(" ")[0] for line in text.splitlines() if line.startswith(":")
    }


def test_rules_of_others_stay() -> None:
    saved = "*nat\n:KUBE-SERVICES - [0:0]\n-A PREROUTING -j KUBE-SERVICES\nCOMMIT\n"
    assert rules.removal(saved) == ""
