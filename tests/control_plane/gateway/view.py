"""A cluster made of dictionaries, for translations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pybernetes.api.resource import Object


@dataclass
class DictionaryView:
    """Objects by their keys."""

    services: dict[str, Object] = field(default_factory=dict)
    secrets: dict[str, Object] = field(default_factory=dict)
    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    all_grants: dict[str, list[Object]] = field(default_factory=dict)

    def service(self, key: str) -> Object | None:
        return self.services.get(key)

    def secret(self, key: str) -> Object | None:
        return self.secrets.get(key)

    def namespace_labels(self, name: str) -> Mapping[str, str]:
        return self.labels.get(name, {})

    def grants(self, namespace: str) -> Iterable[Object]:
        return self.all_grants.get(namespace, ())


def service(name: str, namespace: str = "default", **port: object) -> Object:
    """Return a Service with one port."""
    ports = [{"name": "web", "port": 80, "protocol": "TCP", **port}]
    return {"metadata": {"name": name, "namespace": namespace}, "spec": {"ports": ports}}


def view(*services: Object) -> DictionaryView:
    """Return a cluster with services."""
    keys = ((made["metadata"]["namespace"], made["metadata"]["name"], made) for made in services)
    return DictionaryView({f"{namespace}/{name}": made for namespace, name, made in keys})


def grant(kind: str, namespace: str, to_kind: str = "Service", **to: str) -> Object:
    """Return a ReferenceGrant."""
    source = {"group": "gateway.networking.k8s.io", "kind": kind, "namespace": namespace}
    return {"spec": {"from": [source], "to": [{"group": "", "kind": to_kind, **to}]}}
