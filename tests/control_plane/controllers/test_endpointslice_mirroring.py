"""Endpoints of people's own, as slices."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers.endpointslice_mirroring import Mirror, is_mirrored, mirror
from tests.control_plane.controllers.services import service


def endpoints(*subsets: Object, **meta: Any) -> Object:
    return {
        "metadata": {"name": "web", "namespace": "default", "uid": "uid-endpoints", **meta},
        "subsets": list(subsets),
    }


def subset(*addresses: str, port: int = 80, **more: Any) -> Object:
    return {
        "addresses": [{"ip": address} for address in addresses],
        "ports": [{"port": port, "protocol": "TCP"}],
        **more,
    }


def applied(mirrored: Mirror) -> list[Object]:
    return [
        {**slice_, "metadata": {**slice_["metadata"], "name": f"web-{number}", "resourceVersion": "1"}}
        for number, slice_ in enumerate(mirrored.create)
    ]


def test_whose_endpoints_are_mirrored() -> None:
    own = service(selector=None)
    assert is_mirrored(endpoints(), own)
    assert not is_mirrored(endpoints(), service())
    assert not is_mirrored(endpoints(), None)
    assert not is_mirrored(None, own)
    assert not is_mirrored(endpoints(labels={"endpointslice.kubernetes.io/skip-mirror": "true"}), own)
    leader = {"control-plane.alpha.kubernetes.io/leader": "{}"}
    assert not is_mirrored(endpoints(annotations=leader), own)


def test_one_slice_per_ports_and_family() -> None:
    both = endpoints(
        subset("10.0.0.1", "fd00::1", notReadyAddresses=[{"ip": "10.0.0.2", "nodeName": "node"}]),
        subset("10.0.0.1", port=443),
        labels={"team": "blue"},
        annotations={"kept": "yes", "endpoints.kubernetes.io/last-change-trigger-time": "now"},
    )
    mirrored = mirror(both, [], 1000)
    slices = {(slice_["addressType"], slice_["ports"][0]["port"]): slice_ for slice_ in mirrored.create}
    assert set(slices) == {("IPv4", 80), ("IPv6", 80), ("IPv4", 443)}
    assert slices["IPv4", 80]["endpoints"] == [
        {"addresses": ["10.0.0.1"], "conditions": {"ready": True}},
        {"addresses": ["10.0.0.2"], "conditions": {"ready": False}, "nodeName": "node"},
    ]
    meta = slices["IPv6", 80]["metadata"]
    assert meta["annotations"] == {"kept": "yes"}
    assert meta["labels"] == {
        "team": "blue",
        "kubernetes.io/service-name": "web",
        "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io",
    }
    assert meta["ownerReferences"][0]["kind"] == "Endpoints"
    again = mirror(both, applied(mirrored), 1000)
    assert (again.create, again.update, again.delete) == ([], [], [])


def test_changes() -> None:
    slices = applied(mirror(endpoints(subset("10.0.0.1")), [], 1000))
    more = mirror(endpoints(subset("10.0.0.1", "10.0.0.2")), slices, 1000)
    assert [len(slice_["endpoints"]) for slice_ in more.update] == [2]
    # Other ports take the slice of those that are gone.
    moved = mirror(endpoints(subset("10.0.0.1", port=81)), slices, 1000)
    assert (moved.create, moved.delete) == ([], [])
    assert moved.update[0]["metadata"]["name"] == "web-0"
    none = mirror(endpoints(), slices, 1000)
    assert none.delete == slices
    # Endpoints that were deleted and made again own the slice anew.
    again = mirror(endpoints(subset("10.0.0.1"), uid="again"), slices, 1000)
    assert again.update[0]["metadata"]["ownerReferences"][0]["uid"] == "again"


def test_what_is_left_out_is_counted() -> None:
    mirrored = mirror(endpoints(subset("10.0.0.1", "1", "10.0.0.2", "10.0.0.3")), [], 2)
    assert (mirrored.invalid, mirrored.skipped) == (1, 1)
    assert [len(slice_["endpoints"]) for slice_ in mirrored.create] == [2]
