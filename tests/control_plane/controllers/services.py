"""Services, pods and nodes for the tests of endpoints."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object


def service(name: str = "web", **spec: Any) -> Object:
    return {
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"uid-{name}",
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {
            "selector": {"app": name},
            "clusterIP": "10.0.0.10",
            "ipFamilies": ["IPv4"],
            "ports": [{"name": "http", "port": 80, "targetPort": 8080, "protocol": "TCP"}],
            **spec,
        },
    }


def pod(
    number: int,
    *,
    ready: bool = True,
    going: bool = False,
    node: str = "node",
    phase: str = "Running",
    **spec: Any,
) -> Object:
    address = f"10.244.{number // 250}.{number % 250 + 1}"
    meta: Object = {
        "name": f"pod-{number}",
        "namespace": "default",
        "uid": f"uid-{number}",
        "labels": {"app": "web"},
    }
    if going:
        meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    condition = {
        "type": "Ready",
        "status": "True" if ready else "False",
        "lastTransitionTime": f"2026-01-01T00:01:{number % 60:02}Z",
    }
    return {
        "metadata": meta,
        "spec": {"nodeName": node, "containers": [{"name": "main"}], **spec},
        "status": {
            "phase": phase,
            "podIP": address,
            "podIPs": [{"ip": address}, {"ip": f"fd00::{number + 1:x}"}],
            "conditions": [condition],
        },
    }


def node(name: str = "node", zone: str = "", cpu: str = "4", ready: bool = True, **labels: str) -> Object:
    own = {**labels, **({"topology.kubernetes.io/zone": zone} if zone else {})}
    return {
        "metadata": {"name": name, "labels": own},
        "status": {
            "allocatable": {"cpu": cpu},
            "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
        },
    }
