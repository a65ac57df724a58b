"""Which ports are forwarded to which services."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.tools.local.tunnel import Forward, NothingToForward, forwards


def service(name: str, *ports: int, namespace: str = "default", **spec: Any) -> dict[str, Any]:
    entries = [{"port": port, "protocol": "TCP"} for port in ports]
    return {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"type": "LoadBalancer", "ports": entries, **spec},
    }


SERVICES = [
    service("web", 80, 8443),
    service("other", 8443, namespace="apps"),
    service("inside", 8080, type="ClusterIP"),
    service("names", ports=[{"port": 53, "protocol": "UDP"}]),
]


def test_what_is_forwarded() -> None:
    web = Forward("default", "web", (":80", "8443:8443"))  # low ports are not for everybody
    assert forwards(SERVICES) == [web, Forward("apps", "other", (":8443",))]  # nor is one there twice
    assert forwards(SERVICES, ["web"]) == [web]
    assert forwards(SERVICES, namespace="apps") == [Forward("apps", "other", ("8443:8443",))]


@pytest.mark.parametrize("names", [["nobody"], ["inside"], ["names"], ["web", "nobody"]])
def test_what_there_is_not(names: list[str]) -> None:
    with pytest.raises(NothingToForward, match=names[-1]):
        forwards(SERVICES, names)
    with pytest.raises(NothingToForward):
        forwards([])
