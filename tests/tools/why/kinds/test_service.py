"""Why nobody answers behind a service."""

from typing import Any

import pytest

from pybernetes.client.refs import ENDPOINT_SLICES, NETWORK_POLICIES, PODS
from pybernetes.tools.why.kinds.service import WHY
from tests.tools.why.worlds import causes, is_true, obj, world

READY = {"phase": "Running", "conditions": [is_true("Ready")]}
WEB = {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": "http"}]}
PORTS = {"containers": [{"name": "main", "ports": [{"name": "http", "containerPort": 8080}]}]}
POD = obj("web-1", spec=PORTS, status=READY, labels={"app": "web"})
SLICE = {"metadata": {"namespace": "shop", "name": "web-x"}, "endpoints": [{"addresses": ["10.0.0.1"]}]}


def closed(**spec: Any) -> dict[str, Any]:
    return obj("closed", spec={"podSelector": {}, "policyTypes": ["Ingress"], **spec})


@pytest.mark.parametrize(
    ("spec", "pods", "slices", "policies", "state", "expected"),
    [
        (WEB, [POD], [SLICE], [], "1 ready endpoint", []),
        (WEB, [], [], [], "0 ready endpoints", ["No pod has the labels app=web"]),
        (WEB, [{**POD, "status": {"phase": "Running"}}], [], [], "0 ready endpoints", ["None of its 1 pods is ready: web-1"]),
        (WEB, [{**POD, "status": {"phase": "Succeeded"}}], [], [], "0 ready endpoints", ["No pod has"]),
        ({**WEB, "ports": [{"port": 80, "targetPort": "https"}]}, [POD], [SLICE], [], "1 ready endpoint", ["a port named https, and no container has one"]),
        ({**WEB, "ports": [{"port": 80, "targetPort": 9999}]}, [POD], [SLICE], [], "1 ready endpoint", []),
        ({**WEB, "ports": [{"port": 53, "targetPort": "http", "protocol": "UDP"}]}, [POD], [SLICE], [], "1 ready endpoint", ["a port named http"]),
        ({"ports": [{"port": 80}]}, [POD], [], [], "0 ready endpoints", ["has no selector"]),
        ({"type": "ExternalName", "externalName": "example.com"}, [], [], [], "a name", []),
        (WEB, [POD], [SLICE], [closed()], "1 ready endpoint", ["policy closed lets nobody in"]),
        (WEB, [POD], [SLICE], [closed(ingress=[{}])], "1 ready endpoint", []),
        (WEB, [POD], [SLICE], [closed(podSelector={"matchLabels": {"app": "db"}})], "1 ready endpoint", []),
        (WEB, [POD], [SLICE], [closed(policyTypes=["Egress"])], "1 ready endpoint", []),
        ({**WEB, "type": "LoadBalancer"}, [POD], [SLICE], [], "1 ready endpoint", ["no address outside"]),
    ],
)  # fmt: skip
def test_why(spec: Any, pods: Any, slices: Any, policies: Any, state: str, expected: list[str]) -> None:
    around = world((PODS, pods), (ENDPOINT_SLICES, slices), (NETWORK_POLICIES, policies))
    found_state, findings = WHY.decide(obj("web", spec=spec), around)
    titles = causes(findings)
    assert (found_state, len(titles)) == (state, len(expected)), titles
    for title, words in zip(titles, expected, strict=True):
        assert words in title


def test_the_pods_that_come_nearest_are_named() -> None:
    spec = {"selector": {"app": "web", "tier": "front"}, "ports": []}
    near = obj("near", status=READY, labels={"app": "web", "tier": "back"})
    far = obj("far", status=READY, labels={"other": "x"})
    (finding,) = WHY.decide(obj("web", spec=spec), world((PODS, [far, near])))[1]
    assert finding.details == ["Pod near is near, but has tier=back."]
    assert [link.name for link in finding.links] == ["near"]


def test_pods_that_may_not_be_listed_are_not_missing() -> None:
    around = world()
    around.refused[PODS] = "forbidden"
    assert causes(WHY.decide(obj("web", spec=WEB), around)[1]) == []
