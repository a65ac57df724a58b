"""DNS: a Deployment of two, told by a Corefile what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.client.refs import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CONFIG_MAPS,
    DEPLOYMENTS,
    SERVICE_ACCOUNTS,
    SERVICES,
)
from pybernetes.node.dns import usual
from pybernetes.tools.image import names as images
from pybernetes.tools.kubeadm import patches, rbac
from pybernetes.tools.kubeadm.configuration import networks
from pybernetes.tools.kubeadm.locations import CONTROL_PLANE_LABEL, NAMESPACE
from pybernetes.tools.kubeadm.objects import Objects

_LABELS = {"k8s-app": "kube-dns"}


def corefile(domain: str) -> str:
    """Return what DNS is told."""
    return usual.cluster(domain)


def deployment(cluster: Object) -> Object:
    """Return the Deployment."""
    dns = cluster["dns"]
    ports = (("dns", "UDP", 53), ("dns-tcp", "TCP", 53), ("metrics", "TCP", 9153), ("liveness-probe", "TCP", 8080),
             ("readiness-probe", "TCP", 8181))  # fmt: skip
    container = {
        "name": "coredns",
        "image": images.dns(dns.get("imageRepository") or cluster["imageRepository"], dns.get("imageTag", "")),
        "imagePullPolicy": "IfNotPresent",
        "resources": {"limits": {"memory": "170Mi"}, "requests": {"cpu": "100m", "memory": "70Mi"}},
        "args": ["-conf", "/etc/coredns/Corefile"],
        "volumeMounts": [{"name": "config-volume", "mountPath": "/etc/coredns", "readOnly": True}],
        "ports": [
            {"name": name, "containerPort": number, "protocol": protocol} for name, protocol, number in ports
        ],
        "livenessProbe": {
            "httpGet": {"path": "/health", "port": "liveness-probe", "scheme": "HTTP"},
            "initialDelaySeconds": 60, "timeoutSeconds": 5, "successThreshold": 1, "failureThreshold": 5,
        },
        "readinessProbe": {"httpGet": {"path": "/ready", "port": "readiness-probe", "scheme": "HTTP"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"add": ["NET_BIND_SERVICE"], "drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
    }  # fmt: skip
    term = {
        "labelSelector": {"matchExpressions": [{"key": "k8s-app", "operator": "In", "values": ["kube-dns"]}]},
        "topologyKey": "kubernetes.io/hostname",
    }
    pod = {
        "priorityClassName": "system-cluster-critical",
        "serviceAccountName": "coredns",
        "affinity": {
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": term}]
            }
        },
        "tolerations": [
            {"key": "CriticalAddonsOnly", "operator": "Exists"},
            {"key": CONTROL_PLANE_LABEL, "effect": "NoSchedule"},
        ],
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "containers": [container],
        "dnsPolicy": "Default",
        "volumes": [
            {
                "name": "config-volume",
                "configMap": {"name": "coredns", "items": [{"key": "Corefile", "path": "Corefile"}]},
            }
        ],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "coredns", "namespace": NAMESPACE, "labels": _LABELS},
        "spec": {
            "replicas": 2,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
            "selector": {"matchLabels": _LABELS},
            "template": {"metadata": {"labels": _LABELS}, "spec": pod},
        },
    }


def service(cluster: Object) -> Object:
    """Return the Service, at the tenth address of the services' range."""
    ports = (("dns", "UDP", 53), ("dns-tcp", "TCP", 53), ("metrics", "TCP", 9153))
    return {
        "metadata": {
            "name": "kube-dns",
            "namespace": NAMESPACE,
            "annotations": {"prometheus.io/port": "9153", "prometheus.io/scrape": "true"},
            "labels": {
                **_LABELS,
                "kubernetes.io/cluster-service": "true",
                "kubernetes.io/name": "CoreDNS",
            },
        },
        "spec": {
            "clusterIP": networks.indexed(cluster["networking"]["serviceSubnet"], 10),
            "ports": [
                {"name": name, "protocol": protocol, "port": number, "targetPort": number}
                for name, protocol, number in ports
            ],
            "selector": _LABELS,
        },
    }


async def install(objects: Objects, cluster: Object, folder: Path | None, say: Callable[[str], None]) -> None:
    """Write the objects of DNS; a Corefile that is there stays."""
    metadata = {"name": "coredns", "namespace": NAMESPACE}
    await objects.create_once(
        CONFIG_MAPS,
        {"metadata": metadata, "data": {"Corefile": corefile(cluster["networking"]["dnsDomain"])}},
    )
    reading = ("list", "watch")
    await objects.ensure(
        CLUSTER_ROLES,
        rbac.cluster_role(
            "system:coredns",
            rbac.rule(reading, "", "endpoints", "services", "pods", "namespaces"),
            rbac.rule(reading, "discovery.k8s.io", "endpointslices"),
        ),
    )
    await objects.ensure(
        CLUSTER_ROLE_BINDINGS,
        rbac.cluster_binding("system:coredns", "system:coredns", rbac.account("coredns", NAMESPACE)),
    )
    await objects.create_once(SERVICE_ACCOUNTS, {"metadata": metadata})
    await objects.ensure(DEPLOYMENTS, patches.patched("corednsdeployment", deployment(cluster), folder, say))
    await objects.create_once(SERVICES, service(cluster))
    say("[addons] Applied essential addon: CoreDNS")
