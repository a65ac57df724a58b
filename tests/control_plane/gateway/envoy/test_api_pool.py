"""Classes of Envoy's messages."""

from __future__ import annotations

import pytest

from pybernetes.control_plane.gateway.envoy.api_fields import MESSAGES
from pybernetes.control_plane.gateway.envoy.api_pool import message_class
from pybernetes.control_plane.gateway.envoy.messages import message


@pytest.mark.parametrize("name", [line for line in MESSAGES.split("\n") if line and not line.startswith(" ")])
def test_every_message_can_be_made(name: str) -> None:
    made = message_class(name)()
    assert made.DESCRIPTOR.full_name == name and made.SerializeToString() == b""


def test_what_is_sent() -> None:
    """Numbers, lists, maps, enumerations, messages in messages, and a zero that was set."""
    address = {"socket_address": {"address": "::", "port_value": 0}}
    made = message("envoy.config.listener.v3.Listener", {"name": "a", "address": address})
    assert made.SerializeToString() == b"\x0a\x01a\x12\x08\x0a\x06\x12\x02::\x18\x00"
    cluster = message("envoy.config.cluster.v3.Cluster", {"type": "EDS"})
    assert cluster.SerializeToString() == b"\x10\x03"
    versions = {"initial_resource_versions": {"a": "1"}, "resource_names_subscribe": ["b", "c"]}
    asked = message("envoy.service.discovery.v3.DeltaDiscoveryRequest", versions)
    read = message_class("envoy.service.discovery.v3.DeltaDiscoveryRequest").FromString(
        asked.SerializeToString()
    )
    assert dict(read.initial_resource_versions) == {"a": "1"} and list(read.resource_names_subscribe) == [
        "b",
        "c",
    ]


def test_what_the_table_does_not_have_cannot_be_set() -> None:
    with pytest.raises(ValueError, match="no_such_field"):
        message("envoy.config.cluster.v3.Cluster", {"no_such_field": 1})
    with pytest.raises(KeyError):
        message_class("envoy.no.v3.Message")
