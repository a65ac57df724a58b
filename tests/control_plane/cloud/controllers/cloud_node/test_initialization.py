"""What a node gets from the cloud, as tables."""

from __future__ import annotations

import pytest

from pybernetes.control_plane.cloud.controllers.cloud_node import initialization
from pybernetes.control_plane.cloud.provider import CloudError, InstanceMetadata, NodeAddress
from tests.control_plane.cloud.clouds import TAINT, node


def addresses(*pairs: tuple[str, str]) -> tuple[NodeAddress, ...]:
    return tuple(NodeAddress(*pair) for pair in pairs)


BOTH = addresses(("InternalIP", "10.0.0.1"), ("InternalIP", "10.0.0.2"), ("ExternalIP", "192.0.2.1"))


@pytest.mark.parametrize(
    ("given", "provided", "expected"),
    [
        ((), None, None),
        (addresses(("InternalIP", "10.0.0.1")), None, ["10.0.0.1", "n"]),  # the kubelet's name stays
        (addresses(("InternalIP", "10.0.0.1"), ("Hostname", "h")), None, ["10.0.0.1", "h"]),
        (BOTH, "10.0.0.2", ["10.0.0.2", "192.0.2.1", "n"]),  # the only one of its type, and first
        (BOTH, "192.0.2.1", ["192.0.2.1", "10.0.0.1", "10.0.0.2", "n"]),
        (BOTH, "10.0.0.2,10.0.0.1", ["10.0.0.2", "10.0.0.1", "192.0.2.1", "n"]),
        ((*BOTH, *BOTH), None, ["10.0.0.1", "10.0.0.2", "192.0.2.1", "n"]),
    ],
)
def test_addresses(given: tuple[NodeAddress, ...], provided: str | None, expected: list[str] | None) -> None:
    obj = node("n")
    if provided is not None:
        obj["metadata"]["annotations"] = {"alpha.kubernetes.io/provided-node-ip": provided}
    result = initialization.addresses_of(obj, InstanceMetadata("x://1", addresses=given))
    assert (None if result is None else [entry["address"] for entry in result]) == expected


@pytest.mark.parametrize("provided", ["10.0.0.9", "nonsense", ""])
def test_an_address_that_the_cloud_does_not_have_is_an_error(provided: str) -> None:
    obj = node("n")
    obj["metadata"]["annotations"] = {"alpha.kubernetes.io/provided-node-ip": provided}
    with pytest.raises(CloudError):
        initialization.addresses_of(obj, InstanceMetadata("x://1", addresses=BOTH))


def test_initialize() -> None:
    obj = node("n", TAINT, {"key": "mine", "effect": "NoExecute"})
    obj["metadata"]["labels"] = {"example.com/rack": "7"}
    labels = {
        "example.com/rack": "8", "example.com/new": "1", "foo.kubernetes.io/bad": "1", "k8s.io/bad": "1",
        "bad value": "x", "example.com/value": "not one!",
    }  # fmt: skip
    metadata = InstanceMetadata("x://1", "large", zone="z", region="a b", labels=labels)
    initialization.initialize(obj, metadata)
    assert obj["spec"] == {"providerID": "x://1", "taints": [{"key": "mine", "effect": "NoExecute"}]}
    assert obj["metadata"]["labels"] == {
        "example.com/rack": "7", "example.com/new": "1",
        "topology.kubernetes.io/zone": "z", "failure-domain.beta.kubernetes.io/zone": "z",
        "node.kubernetes.io/instance-type": "large", "beta.kubernetes.io/instance-type": "large",
    }  # fmt: skip
    obj["spec"]["providerID"] = "set by the kubelet"
    initialization.initialize(obj, metadata)
    assert obj["spec"]["providerID"] == "set by the kubelet"


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({}, {}),
        ({"topology.kubernetes.io/zone": "a"}, {}),
        ({"failure-domain.beta.kubernetes.io/zone": "a"}, {"topology.kubernetes.io/zone": "a"}),
        (
            {"beta.kubernetes.io/instance-type": "b", "node.kubernetes.io/instance-type": "c"},
            {"node.kubernetes.io/instance-type": "b"},
        ),
    ],
)
def test_older_labels_count(labels: dict[str, str], expected: dict[str, str]) -> None:
    assert initialization.older_labels(labels) == expected
