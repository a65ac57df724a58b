"""What of an object can be searched for, as pairs of field and text. Of secrets and the like no more than their metadata."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pybernetes.api.resource import Object

# Resources whose contents are looked at; of all others only the metadata is asked for, so that no secret is fetched.
WHOLE = frozenset((
    "pods", "services", "nodes", "events", "deployments.apps", "replicasets.apps", "statefulsets.apps", "daemonsets.apps",
    "jobs.batch", "cronjobs.batch", "replicationcontrollers", "endpointslices.discovery.k8s.io",
    "ingresses.networking.k8s.io",
))  # fmt: skip
_LONGEST = 300
# What tools write for themselves: long, and of no interest to people.
_NOT_SEARCHED = ("kubectl.kubernetes.io/last-applied-configuration",)


def fields(resource: str, obj: Object) -> Iterator[tuple[str, str]]:
    """Yield what can be searched for. Objects come from others: whatever has not the expected type is passed over."""
    meta = _mapping(obj.get("metadata"))
    yield "name", _text(meta.get("name"))
    yield "namespace", _text(meta.get("namespace"))
    yield "uid", _text(meta.get("uid"))
    for name, value in _mapping(meta.get("labels")).items():
        yield "label", f"{name}={_text(value)}"
    for name, value in _mapping(meta.get("annotations")).items():
        if name not in _NOT_SEARCHED:
            yield "annotation", f"{name}={_text(value)}"
    for owner in _mappings(meta.get("ownerReferences")):
        yield "owner", f"{_text(owner.get('kind'))}/{_text(owner.get('name'))}"
    if resource in WHOLE:
        yield from _contents(resource, obj)


def _contents(resource: str, obj: Object) -> Iterator[tuple[str, str]]:
    spec, status = _mapping(obj.get("spec")), _mapping(obj.get("status"))
    if resource == "pods":
        yield from _images(spec)
        yield "node", _text(spec.get("nodeName"))
        yield "status", _text(status.get("phase"))
        for address in _mappings(status.get("podIPs")):
            yield "address", _text(address.get("ip"))
    elif resource == "services":
        for name in ("clusterIPs", "externalIPs"):
            yield from (("address", _text(address)) for address in _list(spec.get(name)))
        for ingress in _mappings(_mapping(status.get("loadBalancer")).get("ingress")):
            yield "address", _text(ingress.get("ip")) or _text(ingress.get("hostname"))
    elif resource == "nodes":
        for address in _mappings(status.get("addresses")):
            yield "address", _text(address.get("address"))
    elif resource == "events":
        about = _mapping(obj.get("involvedObject"))
        yield "owner", f"{_text(about.get('kind'))}/{_text(about.get('name'))}"
        yield "message", f"{_text(obj.get('reason'))}: {_text(obj.get('message'))}"
    elif resource == "endpointslices.discovery.k8s.io":
        for endpoint in _mappings(obj.get("endpoints")):
            yield from (("address", _text(address)) for address in _list(endpoint.get("addresses")))
    elif resource == "ingresses.networking.k8s.io":
        yield from (("address", _text(rule.get("host"))) for rule in _mappings(spec.get("rules")))
    else:
        template = _mapping(spec.get("jobTemplate")).get("spec") if resource == "cronjobs.batch" else spec
        yield from _images(_mapping(_mapping(_mapping(template).get("template")).get("spec")))


def _images(spec: Object) -> Iterator[tuple[str, str]]:
    for name in ("initContainers", "containers", "ephemeralContainers"):
        yield from (("image", _text(container.get("image"))) for container in _mappings(spec.get(name)))


def _text(value: Any) -> str:
    return value[:_LONGEST] if isinstance(value, str) else ""


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _mappings(value: Any) -> list[dict[str, Any]]:
    return [item for item in _list(value) if isinstance(item, dict)]
