"""Where services can be reached."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.tools.local.network import service_urls

NODES = [
    {
        "status": {
            "addresses": [{"type": "Hostname", "address": "n"}, {"type": "InternalIP", "address": "10.0.0.2"}]
        }
    }
]


@pytest.mark.parametrize(
    ("kind", "ports", "ingress", "urls"),
    [
        ("NodePort", [{"port": 80, "nodePort": 30001}], [], ["http://10.0.0.2:30001"]),
        ("LoadBalancer", [{"port": 80, "nodePort": 30001}], [{"ip": "fd00::1"}], ["http://[fd00::1]:80"]),
        ("ClusterIP", [{"port": 80}], [], None),
    ],
)
def test_urls_of_services(kind: str, ports: list[Any], ingress: list[Any], urls: list[str] | None) -> None:
    service = {
        "metadata": {"name": "web"},
        "spec": {"type": kind, "ports": ports},
        "status": {"loadBalancer": {"ingress": ingress}},
    }
    if urls is None:
        with pytest.raises(service_urls.NotReachable, match="port-forward"):
            service_urls.urls(service, NODES)
    else:
        assert service_urls.urls(service, NODES) == urls
