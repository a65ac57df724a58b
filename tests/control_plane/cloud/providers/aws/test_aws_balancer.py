"""What services ask of network load balancers, as tables."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.cloud.provider import CloudError, ImplementedElsewhere
from pybernetes.control_plane.cloud.providers.aws import aws_balancer
from tests.control_plane.cloud.clouds import service

PORT = {"port": 80, "protocol": "TCP", "nodePort": 30080}


def asking(annotations: dict[str, str] | None = None, **spec: Any) -> Object:
    obj = service(**{"ports": [PORT], **spec})
    obj["metadata"] |= {
        "uid": "01234567-89ab-cdef-0123-456789abcdef",
        "annotations": {aws_balancer.PREFIX + key: value for key, value in (annotations or {}).items()},
    }
    return obj


def test_what_a_service_asks_for() -> None:
    plain = aws_balancer.read(asking())
    assert plain.name == "a0123456789abcdef0123456789abcde" and not plain.internal
    assert plain.attributes == {"load_balancing.cross_zone.enabled": "false"}
    assert plain.health["HealthCheckProtocol"] == "TCP" and "HealthCheckPath" not in plain.health
    local = aws_balancer.read(asking(externalTrafficPolicy="Local", healthCheckNodePort=31000))
    assert [local.health[f"HealthCheck{key}"] for key in ("Protocol", "Port", "Path")] == [
        "HTTP",
        "31000",
        "/healthz",
    ]
    told = {
        "type": "nlb", "internal": "true", "cross-zone-load-balancing-enabled": "true", "healthcheck-protocol": "http",
        "healthcheck-path": "/up", "healthcheck-port": "8080", "healthcheck-interval": "30",
        "healthcheck-healthy-threshold": "5", "subnets": "subnet-1, subnet-2", "additional-resource-tags": "a=b,c=d",
    }  # fmt: skip
    asked = aws_balancer.read(asking(told))
    assert asked.internal and asked.subnets == ("subnet-1", "subnet-2") and asked.tags == {"a": "b", "c": "d"}
    assert asked.health["HealthCheckPath"] == "/up" and asked.health["HealthCheckIntervalSeconds"] == 30
    both = aws_balancer.read(asking(ports=[PORT, {**PORT, "protocol": "UDP"}]))
    assert both.ports == (aws_balancer.Port("TCP_UDP", 80, 30080),)
    assert len(both.group_name(both.ports[0])) <= 32


@pytest.mark.parametrize(
    ("annotations", "spec", "problem"),
    [
        ({"type": "classic"}, {}, "only nlb is"),
        ({"ssl-cert": "arn"}, {}, "ssl-cert is not supported"),
        ({"cross-zone-load-balancing-enabled": "perhaps"}, {}, "neither true nor false"),
        ({"healthcheck-interval": "soon"}, {}, "is no number"),
        ({"healthcheck-protocol": "ping"}, {}, "none of TCP"),
        ({}, {"loadBalancerSourceRanges": ["10.0.0.0/8"]}, "security groups"),
        ({}, {"ports": [{"port": 80}]}, "no node port"),
        ({}, {"ports": [{**PORT, "protocol": "SCTP"}]}, "has no SCTP"),
        ({}, {"ports": [PORT, {**PORT, "protocol": "UDP", "nodePort": 1}]}, "the same node port"),
    ],
)
def test_what_there_is_not(annotations: dict[str, str], spec: dict[str, Any], problem: str) -> None:
    with pytest.raises(CloudError, match=problem):
        aws_balancer.read(asking(annotations, **spec))


@pytest.mark.parametrize("kind", ["external", "nlb-ip"])
def test_others_care_for_some(kind: str) -> None:
    with pytest.raises(ImplementedElsewhere):
        aws_balancer.read(asking({"type": kind}))
