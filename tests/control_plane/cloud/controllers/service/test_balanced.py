"""Which services and nodes a load balancer is about, as tables."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.control_plane.cloud.controllers.service import balanced
from pybernetes.control_plane.cloud.provider import Ingress
from tests.control_plane.cloud.clouds import node, service

LABEL = "node.kubernetes.io/exclude-from-external-load-balancers"


@pytest.mark.parametrize(
    ("labels", "taint", "included"),
    [
        ({}, "", True),
        ({LABEL: ""}, "", False),
        ({LABEL: "true"}, "", False),
        ({LABEL: "false"}, "", True),
        ({LABEL: "whatever"}, "", False),
        ({}, "ToBeDeletedByClusterAutoscaler", False),
        ({}, "other", True),
    ],
)
def test_nodes_behind_load_balancers(labels: dict[str, str], taint: str, included: bool) -> None:
    obj = node("n", *([{"key": taint, "effect": "NoSchedule"}] if taint else []), ready="False")
    obj["metadata"]["labels"] = labels
    assert balanced.is_included(obj) is included  # whether it is ready is for health checks to find out
    obj["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert not balanced.is_included(obj)


@pytest.mark.parametrize(
    ("changes", "wants"),
    [
        ({}, True),
        ({"type": "ClusterIP"}, False),
        ({"loadBalancerClass": "example.com/mine"}, False),
    ],
)
def test_services_with_load_balancers(changes: dict[str, Any], wants: bool) -> None:
    assert balanced.wants_load_balancer(service(**changes)) is wants


@pytest.mark.parametrize(
    ("spec", "matters"),
    [
        ({"selector": {"app": "other"}}, False),
        ({"internalTrafficPolicy": "Local"}, False),
        ({"ports": [{"port": 81}]}, True),
        ({"loadBalancerSourceRanges": ["10.0.0.0/8"]}, True),
        ({"sessionAffinity": "ClientIP"}, True),
        ({"externalTrafficPolicy": "Local"}, True),
        ({"healthCheckNodePort": 32000}, True),
        ({"loadBalancerIP": "192.0.2.1"}, True),
    ],
)
def test_what_makes_a_load_balancer_another(spec: dict[str, Any], matters: bool) -> None:
    old, new = service(), service(**spec)
    old["metadata"]["uid"] = new["metadata"]["uid"] = "1"
    assert (balanced.essence(old) != balanced.essence(new)) is matters


@pytest.mark.parametrize(
    ("spec", "ingresses", "lacks"),
    [
        ({}, [], "no address"),
        ({}, [Ingress()], "no address"),
        ({}, [Ingress("192.0.2.1")], ""),
        ({}, [Ingress(hostname="a.example.com")], ""),
        ({"ipFamilyPolicy": "RequireDualStack", "ipFamilies": ["IPv4", "IPv6"]}, [Ingress("192.0.2.1")], "IPv6"),
        ({"ipFamilyPolicy": "PreferDualStack", "ipFamilies": ["IPv4", "IPv6"]}, [Ingress("192.0.2.1")], ""),
        (
            {"ipFamilyPolicy": "RequireDualStack", "ipFamilies": ["IPv4", "IPv6"]},
            [Ingress("192.0.2.1"), Ingress("2001:db8::1")],
            "",
        ),
    ],
)  # fmt: skip
def test_too_few_addresses(spec: dict[str, Any], ingresses: list[Ingress], lacks: str) -> None:
    told = balanced.shortage(service(**spec), ingresses)
    assert lacks in told if lacks else told == ""


def test_names_in_messages_are_limited() -> None:
    assert balanced.listed(["b", "a"]) == "[a b]"
    assert balanced.listed(f"{number:02}" for number in range(25)).endswith("19 <5 more>]")
