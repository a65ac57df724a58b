"""What a cluster gets of a service of many clusters: an import, a service that carries its address, and slices. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping

from pybernetes.api.resource import Object
from pybernetes.control_plane.federation.kinds import COMPONENT
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
from pybernetes.control_plane.federation.multicluster.soundness import is_sound_slice

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
    """Return the slices that a cluster gets, by their names, of the slices of each cluster.

    Endpoints do not serve a port of the service's address whose number is another one in their cluster.
    """
    result: dict[str, Object] = {}
    for cluster, listed in sources.items():
        labels = {**_OURS, SERVICE_NAME: name, SOURCE_CLUSTER: cluster, MANAGED_BY: MANAGER}
        strays: Collection[str] = ()
        if not service.is_headless:
            strays = service.strays.get(cluster, ())
            labels[LOCAL_SERVICE] = derived_name(namespace, name)
        for source in filter(is_sound_slice, listed):
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
                    {key: port[key] for key in _OF_PORT if key in port}
                    for port in source.get("ports") or ()
                    if (port.get("name") or "") not in strays
                ],
            }
    return result


def is_as(existing: Object, wanted: Object) -> bool:
    """Return whether an object has all that is wanted of it, and nothing that was; servers add to maps, never to lists."""
    has_all = all(_has(existing.get(part), value, part) for part, value in wanted.items())
    return has_all and not any(_stale(existing, wanted).values())


def patch(existing: Object, wanted: Object) -> Object:
    """Return a patch that gives an object what is wanted, and takes from it what we wrote and do not want any more."""
    gone = _stale(existing, wanted)
    meta = {**wanted["metadata"], "resourceVersion": existing["metadata"]["resourceVersion"]}
    for part in ("labels", "annotations"):
        if gone[part] or part in meta:
            meta[part] = {**gone[part], **(meta.get(part) or {})}
    result = {**wanted, "metadata": meta}
    if "spec" in wanted:
        result["spec"] = {**gone["spec"], **wanted["spec"]}
    return result


def _stale(existing: Object, wanted: Object) -> dict[str, Object]:
    """Return what of an object's spec, labels and annotations we once wrote and is not wanted any more."""
    before, now = existing.get("spec") or {}, wanted.get("spec") or {}
    gone = {
        "spec": {key: None for key in (*_SETTINGS, "ips") if before.get(key) is not None and key not in now}
    }
    for part in ("labels", "annotations"):
        kept, there = wanted["metadata"].get(part) or {}, existing["metadata"].get(part) or {}
        gone[part] = {key: None for key in _written(existing, part) if key in there and key not in kept}
    return gone


def _written(existing: Object, part: str) -> set[str]:
    """Return the labels or annotations of an object that we wrote; those of others are not ours to remove."""
    fields = [
        ((entry.get("fieldsV1") or {}).get("f:metadata") or {}).get(f"f:{part}") or {}
        for entry in existing["metadata"].get("managedFields") or ()
        if entry.get("manager") == COMPONENT
    ]
    return {name.removeprefix("f:") for owned in fields for name in owned if name != "."}


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
