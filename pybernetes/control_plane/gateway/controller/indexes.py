"""By what objects are found when something that they refer to has changed: keys of the form namespace/name."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway.kinds import CONTROLLER, GROUP


def _of_parent(reference: Object, namespace: str) -> str | None:
    if (reference.get("group", GROUP), reference.get("kind", "Gateway")) != (GROUP, "Gateway"):
        return None
    return f"{reference.get('namespace') or namespace}/{reference['name']}"


def by_gateway(route: Object) -> Iterable[str]:
    """Return the Gateways that a route names, and those about which its status still says something of ours."""
    namespace = route["metadata"]["namespace"]
    keys = {_of_parent(reference, namespace) for reference in route["spec"].get("parentRefs") or ()}
    for entry in (route.get("status") or {}).get("parents") or ():
        if entry["controllerName"] == CONTROLLER:
            keys.add(_of_parent(entry["parentRef"], namespace))
    return [key for key in keys if key is not None]


def by_backend(route: Object) -> Iterable[str]:
    """Return the Services that a route names."""
    namespace = route["metadata"]["namespace"]
    keys: set[str] = set()
    for rule in route["spec"].get("rules") or ():
        references = list(rule.get("backendRefs") or ())
        owners = (rule, *references)
        filters = [entry for owner in owners for entry in owner.get("filters") or ()]
        references += [
            entry["requestMirror"]["backendRef"] for entry in filters if entry.get("requestMirror")
        ]
        keys |= {f"{reference.get('namespace') or namespace}/{reference['name']}" for reference in references}
    return keys


def by_class(gateway: Object) -> Iterable[str]:
    """Return the class that a Gateway names."""
    return (gateway["spec"]["gatewayClassName"],)


def by_certificate(gateway: Object) -> Iterable[str]:
    """Return the Secrets that a Gateway names."""
    namespace = gateway["metadata"]["namespace"]
    return {
        f"{reference.get('namespace') or namespace}/{reference['name']}"
        for listener in gateway["spec"]["listeners"]
        for reference in (listener.get("tls") or {}).get("certificateRefs") or ()
    }


def by_service_name(slice_: Object) -> Iterable[str]:
    """Return the Service that a slice of endpoints belongs to."""
    meta = slice_["metadata"]
    name = (meta.get("labels") or {}).get("kubernetes.io/service-name")
    return (f"{meta['namespace']}/{name}",) if name else ()


def by_used(ingress: Object) -> Iterable[str]:
    """Return the Services and Secrets that an Ingress names."""
    spec, namespace = ingress["spec"], ingress["metadata"]["namespace"]
    backends = [
        path["backend"]
        for rule in spec.get("rules") or ()
        for path in (rule.get("http") or {}).get("paths") or ()
    ]
    if spec.get("defaultBackend"):
        backends.append(spec["defaultBackend"])
    services = {
        f"Service {namespace}/{backend['service']['name']}" for backend in backends if backend.get("service")
    }
    return services | {
        f"Secret {namespace}/{entry['secretName']}"
        for entry in spec.get("tls") or ()
        if entry.get("secretName")
    }
