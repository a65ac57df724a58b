"""What a cluster gets of a service of many clusters: an import, a service that carries its address, and slices. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from pybernetes.api.resource import Object
from pybernetes.control_plane.federation.multicluster.exports import Shared
from pybernetes.control_plane.federation.multicluster.kinds import (
    DERIVED_SERVICE,
    LOCAL_SERVICE,
    MANAGED_BY,
    MANAGER,
    OURS,
    SERVICE_NAME,
    SOURCE_CLUSTER,
)

_OURS = {OURS: "true"}
_SETTINGS = ("sessionAffinity", "sessionAffinityConfig", "internalTrafficPolicy", "trafficDistribution")
_OF_ENDPOINT = ("addresses", "conditions", "hostname")
_OF_PORT = ("name", "protocol", "port", "appProtocol")


def derived_name(namespace: str, name: str) -> str:
    """Return the name of the service that carries the address of an import."""
    return f"derived-{hashlib.sha256(f'{namespace}/{name}'.encode()).hexdigest()[:12]}"


def derived_service(namespace: str, name: str, service: Shared) -> Object:
    """Return the service without pods of its own that carries the address of an import."""
    spec: Object = {key: service.spec[key] for key in _SETTINGS if key in service.spec}
    spec["ports"] = [dict(port) for port in service.spec["ports"]]
    if len(service.spec["ipFamilies"]) > 1:
        spec["ipFamilyPolicy"] = "PreferDualStack"
    labels = {**_OURS, SERVICE_NAME: name}
    meta = {"name": derived_name(namespace, name), "namespace": namespace, "labels": labels}
    return {"metadata": meta, "spec": spec}


def service_import(namespace: str, name: str, service: Shared, derived: Object | None) -> Object:
    """Return the import of a service, with the addresses of the service that carries them."""
    annotations = dict(service.annotations)
    spec = dict(service.spec)
    if derived is not None:
        annotations[DERIVED_SERVICE] = derived["metadata"]["name"]
        spec["ips"] = derived["spec"].get("clusterIPs") or []
        spec["ipFamilies"] = derived["spec"].get("ipFamilies") or spec["ipFamilies"]
    meta = {
        "name": name, "namespace": namespace, "labels": {**service.labels, **_OURS}, "annotations": annotations,
    }  # fmt: skip
    return {"metadata": meta, "spec": spec}


def slices(
    namespace: str, name: str, service: Shared, sources: Mapping[str, Iterable[Object]]
) -> dict[str, Object]:
    """Return the slices that a cluster gets, by their names, of the slices of each cluster."""
    result: dict[str, Object] = {}
    for cluster, listed in sources.items():
        labels = {**_OURS, SERVICE_NAME: name, SOURCE_CLUSTER: cluster, MANAGED_BY: MANAGER}
        if not service.is_headless:
            labels[LOCAL_SERVICE] = derived_name(namespace, name)
        for source in listed:
            identity = f"{cluster}/{namespace}/{source['metadata']['name']}"
            own = f"imported-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"
            result[own] = {
                "metadata": {"name": own, "namespace": namespace, "labels": labels},
                "addressType": source["addressType"],
                "endpoints": [
                    {key: endpoint[key] for key in _OF_ENDPOINT if key in endpoint}
                    for endpoint in source.get("endpoints") or ()
                ],
                "ports": [
                    {key: port[key] for key in _OF_PORT if key in port} for port in source.get("ports") or ()
                ],
            }
    return result


def is_as(existing: Object, wanted: Object) -> bool:
    """Tell whether an object has all that is wanted of it; servers add to maps, never to lists."""
    return all(_has(existing.get(part), value, part) for part, value in wanted.items())


def _has(existing: object, wanted: object, part: str) -> bool:
    if part in ("metadata", "spec") and isinstance(wanted, dict):
        own = existing if isinstance(existing, dict) else {}
        return all(_has(own.get(key), value, key) for key, value in wanted.items())
    if part in ("labels", "annotations") and isinstance(wanted, dict):
        own = existing if isinstance(existing, dict) else {}
        return all(own.get(key) == value for key, value in wanted.items())
    if isinstance(wanted, list) and isinstance(existing, list) and part in ("ports", "endpoints"):
        return len(wanted) == len(existing) and all(
            isinstance(row, dict) and all(row.get(key) == value for key, value in item.items())
            for item, row in zip(wanted, existing, strict=True)
        )
    return existing == wanted or (not existing and not wanted)
