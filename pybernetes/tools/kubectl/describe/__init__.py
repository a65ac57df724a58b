"""describe: one file per kind, named like the kind; a kind without a file is shown field by field."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.describe._writer import Writer
from pybernetes.tools.kubectl.resources.builder import Info

# Kinds of other groups may have the names of ours.
GROUPS = {
    "pod": "", "node": "", "service": "", "secret": "", "configmap": "", "namespace": "", "endpoints": "",
    "serviceaccount": "", "persistentvolume": "", "persistentvolumeclaim": "", "replicationcontroller": "",
    "resourcequota": "", "limitrange": "", "deployment": "apps", "replicaset": "apps", "statefulset": "apps",
    "daemonset": "apps", "job": "batch", "cronjob": "batch", "ingress": "networking.k8s.io",
    "ingressclass": "networking.k8s.io", "networkpolicy": "networking.k8s.io", "servicecidr": "networking.k8s.io",
    "ipaddress": "networking.k8s.io", "endpointslice": "discovery.k8s.io", "role": "rbac.authorization.k8s.io",
    "clusterrole": "rbac.authorization.k8s.io", "rolebinding": "rbac.authorization.k8s.io",
    "clusterrolebinding": "rbac.authorization.k8s.io", "horizontalpodautoscaler": "autoscaling",
    "poddisruptionbudget": "policy", "storageclass": "storage.k8s.io", "csinode": "storage.k8s.io",
    "volumeattributesclass": "storage.k8s.io", "priorityclass": "scheduling.k8s.io",
    "certificatesigningrequest": "certificates.k8s.io",
}  # fmt: skip


def describe(context: Context, info: Info, events: bool = True) -> str:
    """Return an object in words, with its events."""
    kind = info.resource.kind.lower()
    writer = Writer(context, info, events)
    path = os.path.join(os.path.dirname(__file__), f"{kind}.py")
    if GROUPS.get(kind) == info.resource.group and os.path.exists(path):
        import_module(f"{__name__}.{kind}").describe(writer, info.object)
    else:
        from pybernetes.tools.kubectl.describe._generic import describe as generic

        generic(writer, info.object)
    return writer.text()


Object = dict[str, Any]
