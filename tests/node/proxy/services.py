"""Services and EndpointSlices for tests."""

from __future__ import annotations

from typing import Any

from pybernetes.node.proxy.endpoint import Target
from pybernetes.node.proxy.node import Node

HERE = Node("here", zone="z1")


def service(name: str = "web", status: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    """Return a Service of one port."""
    fields = {"clusterIP": "10.96.0.10", "clusterIPs": ["10.96.0.10"],
              "ports": [{"name": "http", "port": 80, "protocol": "TCP"}]}  # fmt: skip
    return {
        "metadata": {"namespace": "default", "name": name},
        "spec": {**fields, **spec},
        "status": status or {},
    }


def endpoint(ip: str, node: str = "there", **more: Any) -> dict[str, Any]:
    """Return an endpoint; what is given besides its address are conditions and hints."""
    hints = {
        key: [{"name": name} for name in more.pop(key)] for key in ("forZones", "forNodes") if key in more
    }
    return {"addresses": [ip], "nodeName": node, "conditions": {"ready": True, "serving": True, **more},
            **({"hints": hints} if hints else {})}  # fmt: skip


def slice_of(*endpoints: dict[str, Any], name: str = "web-1", **more: Any) -> dict[str, Any]:
    """Return a slice of the Service."""
    labels = {"kubernetes.io/service-name": "web"}
    return {"metadata": {"namespace": "default", "name": name, "labels": labels}, "addressType": "IPv4",
            "endpoints": list(endpoints), "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}], **more}  # fmt: skip


def ips(targets: tuple[Target, ...]) -> list[str]:
    """Return the addresses of targets."""
    return [target.ip for target in targets]
