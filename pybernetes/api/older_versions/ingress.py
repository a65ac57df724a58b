"""Ingress v1beta1, of networking.k8s.io and of extensions."""

from __future__ import annotations

from pybernetes.api.older_versions._older_version import OlderVersion, Table
from pybernetes.api.resource import Object

_PACKAGE = "io.k8s.api.networking.v1beta1"


def convert(obj: Object) -> Object:
    """Give backends the form of v1: a service with a port that has a name or a number."""
    spec = obj.get("spec") or {}
    if spec.get("backend"):
        spec["defaultBackend"] = _backend(spec.pop("backend"))
    for rule in spec.get("rules") or ():
        for path in (rule.get("http") or {}).get("paths") or ():
            path.setdefault("pathType", "ImplementationSpecific")
            path["backend"] = _backend(path.get("backend") or {})
    return obj


def _backend(old: Object) -> Object:
    name, port = old.get("serviceName", ""), old.get("servicePort", 0)
    new = {key: value for key, value in old.items() if key not in ("serviceName", "servicePort")}
    if name or port or port == "":
        new["service"] = {"name": name, "port": {"name": port} if isinstance(port, str) else {"number": port}}
    return new


OLDER: Table = {
    (f"{group}/v1beta1", "Ingress"): OlderVersion("networking.k8s.io/v1", convert, f"{_PACKAGE}.Ingress")
    for group in ("extensions", "networking.k8s.io")
}
