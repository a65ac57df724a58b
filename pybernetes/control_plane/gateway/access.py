"""What the gateway may do, and nothing else: read what it translates, write statuses, and look after its own services."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    INGRESS_CLASSES,
    NAMESPACES,
    ROLE_BINDINGS,
    ROLES,
    Ref,
)
from pybernetes.control_plane.gateway.kinds import CONTROLLER, GATEWAY_CLASSES, GROUP, NAMESPACE

USER = "system:pybernetes-gateway"
CLASS = "pybernetes"
_NAME = "pybernetes:gateway"
_RBAC = "rbac.authorization.k8s.io"
_READ = ("get", "list", "watch")
_WRITE = ("create", "patch", "delete")


def _rule(group: str, resources: tuple[str, ...], verbs: tuple[str, ...]) -> Object:
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}


def _rules() -> list[Object]:
    kinds = ("gatewayclasses", "gateways", "httproutes", "grpcroutes", "tlsroutes")
    return [
        # Of Secrets it watches those of type kubernetes.io/tls alone; roles cannot say that.
        _rule("", ("services", "namespaces", "secrets"), _READ),
        _rule("discovery.k8s.io", ("endpointslices",), _READ),
        _rule("networking.k8s.io", ("ingresses", "ingressclasses"), _READ),
        _rule("networking.k8s.io", ("ingresses/status",), ("update",)),
        _rule(GROUP, (*kinds, "referencegrants"), _READ),
        _rule(GROUP, tuple(f"{kind}/status" for kind in kinds), ("update",)),
        _rule("", ("events",), ("create", "patch")),
    ]


def _bound(kind: str, meta: Object, role: str) -> Object:
    return {
        "metadata": meta,
        "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": role},
        "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": USER}],
    }


def access() -> list[tuple[Ref, Object]]:
    """Return the namespace of the gateway and its roles."""
    meta = {"name": _NAME, "namespace": NAMESPACE}
    own = [
        _rule("", ("services",), _WRITE),
        _rule("discovery.k8s.io", ("endpointslices",), _WRITE),
    ]
    return [
        (NAMESPACES, {"metadata": {"name": NAMESPACE}}),
        (CLUSTER_ROLES, {"metadata": {"name": _NAME}, "rules": _rules()}),
        (CLUSTER_ROLE_BINDINGS, _bound("ClusterRole", {"name": _NAME}, _NAME)),
        (ROLES, {"metadata": meta, "rules": own}),
        (ROLE_BINDINGS, _bound("Role", meta, _NAME)),
    ]


def classes() -> list[tuple[Ref, Object]]:
    """Return the classes by which Gateways and Ingresses ask for this gateway; Ingresses that name none get it."""
    marked = {"annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}}
    return [
        (GATEWAY_CLASSES, {"metadata": {"name": CLASS}, "spec": {"controllerName": CONTROLLER}}),
        (INGRESS_CLASSES, {"metadata": {"name": CLASS, **marked}, "spec": {"controller": CONTROLLER}}),
    ]
