"""Which service gets which address, and by which node it is reached."""

from __future__ import annotations

from typing import Any

from pybernetes.tools.local import load_balancers

POOL = load_balancers.pool("172.30.9.0/24")
NODES = {"b": "172.30.9.3", "a": "172.30.9.2"}


def service(uid: str, has: str = "", **spec: Any) -> dict[str, Any]:
    ingress = [{"ip": has}] if has else []
    return {
        "metadata": {"name": uid, "namespace": "default", "uid": uid},
        "spec": {"type": "LoadBalancer", **spec},
        "status": {"loadBalancer": {"ingress": ingress}},
    }


def test_who_wants_one() -> None:
    assert load_balancers.wants_address(service("a"))
    assert not load_balancers.wants_address(None)
    assert not load_balancers.wants_address(service("a", type="NodePort"))
    assert not load_balancers.wants_address(service("a", loadBalancerClass="example.com/other"))
    leaving = service("a")
    leaving["metadata"]["deletionTimestamp"] = "now"
    assert not load_balancers.wants_address(leaving)


def test_addresses_are_kept_wished_for_and_never_given_twice() -> None:
    assert POOL[0] == "172.30.9.200" and POOL[-1] == "172.30.9.250"
    first, second = service("a", POOL[0]), service("b")
    assert load_balancers.choose_address(first, [first, second], POOL) == POOL[0]
    assert load_balancers.choose_address(second, [first, second], POOL) == POOL[1]
    assert load_balancers.choose_address(service("c", loadBalancerIP=POOL[7]), [first], POOL) == POOL[7]
    assert load_balancers.choose_address(service("c", loadBalancerIP=POOL[0]), [first], POOL) == POOL[1]
    assert load_balancers.choose_address(service("c", loadBalancerIP="192.0.2.1"), [], POOL) == POOL[0]
    every = [service(str(at), address) for at, address in enumerate(POOL)]
    assert load_balancers.choose_address(service("c"), every, POOL) == ""


def test_local_traffic_goes_where_an_endpoint_is() -> None:
    slices = [{"endpoints": [{"nodeName": "a", "conditions": {"ready": False}}, {"nodeName": "b"}]}]
    assert load_balancers.entry_node(service("x"), NODES, slices) == "172.30.9.2"
    assert (
        load_balancers.entry_node(service("x", externalTrafficPolicy="Local"), NODES, slices) == "172.30.9.3"
    )
    assert load_balancers.entry_node(service("x", externalTrafficPolicy="Local"), NODES, []) == ""
    assert load_balancers.entry_node(service("x"), {}, slices) == ""


def test_only_nodes_that_are_ready_count() -> None:
    def node(name: str, ready: str) -> dict[str, Any]:
        status = {"conditions": [{"type": "Ready", "status": ready}],
                  "addresses": [{"type": "InternalIP", "address": name}]}  # fmt: skip
        return {"metadata": {"name": name}, "status": status}

    assert load_balancers.ready_nodes(
        [node("a", "True"), node("b", "Unknown"), {"metadata": {"name": "c"}}]
    ) == {"a": "a"}
