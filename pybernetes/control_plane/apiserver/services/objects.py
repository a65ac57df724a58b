"""The objects that the API server makes about services, built from plain values."""

from __future__ import annotations

from typing import Any

from pybernetes.api.core.service.cluster_ips import family_of
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.services.options import ServiceOptions

MANAGER = "ipallocator.k8s.io"
FAMILY_LABEL = "ipaddress.kubernetes.io/ip-family"
MANAGER_LABEL = "ipaddress.kubernetes.io/managed-by"
KUBERNETES = "kubernetes"


def ip_address(ip: str, namespace: str, name: str, uid: str, timestamp: str) -> Object:
    """Return the IPAddress that says which service has an address."""
    return {
        "kind": "IPAddress",
        "apiVersion": "networking.k8s.io/v1",
        "metadata": {
            "name": ip,
            "uid": uid,
            "creationTimestamp": timestamp,
            "labels": {FAMILY_LABEL: family_of(ip), MANAGER_LABEL: MANAGER},
        },
        "spec": {"parentRef": {"resource": "services", "namespace": namespace, "name": name}},
    }


def default_service_cidr(options: ServiceOptions, timestamp: str) -> Object:
    """Return the ServiceCIDR ``kubernetes`` with the ranges of the flags; it is ready at once."""
    return {
        "kind": "ServiceCIDR",
        "apiVersion": "networking.k8s.io/v1",
        "metadata": {"name": KUBERNETES},
        "spec": {"cidrs": [range_.cidr for range_ in options.ranges]},
        "status": {
            "conditions": [
                {
                    "type": "Ready",
                    "status": "True",
                    "lastTransitionTime": timestamp,
                    "reason": "",
                    "message": "Kubernetes default Service CIDR is ready",
                }
            ]
        },
    }


def kubernetes_service(options: ServiceOptions, port: int, node_port: int = 0) -> Object:
    """Return the service ``default/kubernetes``, the API server itself: it has the first address of the range."""
    first = options.ranges[0]
    service_port: dict[str, Any] = {"name": "https", "protocol": "TCP", "port": 443, "targetPort": port}
    if node_port:
        service_port["nodePort"] = node_port
    return {
        "kind": "Service",
        "apiVersion": "v1",
        "metadata": {
            "name": KUBERNETES,
            "namespace": "default",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "clusterIP": first.address(first.first),
            "clusterIPs": [first.address(first.first)],
            "ipFamilies": [first.family],
            "ipFamilyPolicy": "SingleStack",
            "ports": [service_port],
            "sessionAffinity": "None",
            "type": "NodePort" if node_port else "ClusterIP",
        },
    }


def kubernetes_endpoints(addresses: list[str], port: int) -> Object:
    """Return the Endpoints of ``default/kubernetes``: where the API servers listen."""
    subsets = [
        {
            "addresses": [{"ip": ip} for ip in sorted(addresses)],
            "ports": [{"name": "https", "port": port, "protocol": "TCP"}],
        }
    ]
    return {
        "kind": "Endpoints",
        "apiVersion": "v1",
        "metadata": {
            "name": KUBERNETES,
            "namespace": "default",
            "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"},
        },
        "subsets": subsets if addresses else [],
    }


def kubernetes_endpoint_slice(addresses: list[str], port: int) -> Object:
    """Return the EndpointSlice of ``default/kubernetes``."""
    family = family_of(addresses[0]) if addresses else "IPv4"
    return {
        "kind": "EndpointSlice",
        "apiVersion": "discovery.k8s.io/v1",
        "metadata": {
            "name": KUBERNETES,
            "namespace": "default",
            "labels": {"kubernetes.io/service-name": KUBERNETES},
        },
        "addressType": family,
        "endpoints": [{"addresses": [ip], "conditions": {"ready": True}} for ip in sorted(addresses)],
        "ports": [{"name": "https", "port": port, "protocol": "TCP"}],
    }
