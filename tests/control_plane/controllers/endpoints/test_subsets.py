"""Endpoints as they stand for pods."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers.endpoints import subsets
from pybernetes.control_plane.controllers.endpoints.endpoints import desired
from tests.control_plane.controllers.services import pod, service


def ips(wanted: list[Object], kind: str = "addresses") -> list[str]:
    return [address["ip"] for subset in wanted for address in subset.get(kind, ())]


def test_ready_and_not_ready() -> None:
    wanted = subsets.subsets(
        service(), [pod(1), pod(0, ready=False), pod(2, going=True), pod(3, phase="Failed")]
    )
    [subset] = wanted
    assert ips(wanted) == ["10.244.0.2"]
    assert ips(wanted, "notReadyAddresses") == ["10.244.0.1"]
    assert subset["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP"}]
    assert subset["addresses"][0]["targetRef"]["name"] == "pod-1"
    everything = subsets.subsets(
        service(publishNotReadyAddresses=True), [pod(0, ready=False), pod(1, going=True)]
    )
    assert ips(everything) == ["10.244.0.1", "10.244.0.2"]


def test_headless_without_ports_and_families() -> None:
    headless = subsets.subsets(service(clusterIP="None", ports=[]), [pod(0)])
    assert headless == [{"addresses": headless[0]["addresses"]}]
    assert subsets.subsets(service(ports=[]), [pod(0)]) == []
    assert ips(subsets.subsets(service(ipFamilies=["IPv6", "IPv4"]), [pod(0)])) == ["fd00::1"]


def test_addresses_with_the_same_ports_are_together() -> None:
    ports = [
        {"name": "named", "port": 80, "targetPort": "web", "protocol": "TCP"},
        {"name": "number", "port": 81, "targetPort": 9000, "protocol": "TCP"},
    ]
    named = pod(0)
    named["spec"]["containers"][0]["ports"] = [{"name": "web", "containerPort": 8080}]
    wanted = subsets.subsets(service(ports=ports), [named, pod(1)])
    assert [(ips([subset]), [port["port"] for port in subset["ports"]]) for subset in wanted] == [
        (["10.244.0.1"], [8080]),
        (["10.244.0.1", "10.244.0.2"], [9000]),
    ]


def test_too_many_are_cut() -> None:
    pods = [pod(number, ready=number % 3 != 0) for number in range(1800)]
    wanted = subsets.truncated(subsets.subsets(service(), pods))
    assert (len(ips(wanted)), len(ips(wanted, "notReadyAddresses"))) == (1000, 0)
    some = subsets.truncated(subsets.subsets(service(), pods[:1200]))
    assert (len(ips(some)), len(ips(some, "notReadyAddresses"))) == (800, 200)
    made = desired(service(), pods, None, "")
    assert made is not None
    assert made["metadata"]["annotations"] == {"endpoints.kubernetes.io/over-capacity": "truncated"}
    assert desired(service(), pods, made, "") is None


@given(
    st.lists(st.tuples(st.integers(0, 20), st.booleans()), max_size=20, unique_by=lambda subset: subset[0])
)
def test_what_was_written_is_what_is_wanted(states: list[tuple[int, bool]]) -> None:
    pods = [pod(number, ready=ready) for number, ready in states]
    made = desired(service(), pods, None, "2026-01-01T00:00:00Z")
    assert made is not None
    made["subsets"] = list(reversed(made["subsets"]))
    assert desired(service(), pods, made, "2026-01-02T00:00:00Z") is None
    labelled = {**service(), "metadata": {**service()["metadata"], "labels": {"team": "blue"}}}
    changed = desired(labelled, pods, made, "")
    assert changed is not None
    assert changed["metadata"]["labels"] == {
        "team": "blue",
        "endpoints.kubernetes.io/managed-by": "endpoint-controller",
    }
