"""Revisions of workloads: replica sets of deployments, controller revisions of the others."""

from __future__ import annotations

from typing import Any

from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.describe._writer import controller_of
from pybernetes.tools.kubectl.resources.builder import Info
from pybernetes.tools.kubectl.resources.label_selector import show

REVISION = "deployment.kubernetes.io/revision"
CAUSE = "kubernetes.io/change-cause"
Object = dict[str, Any]
KINDS = ("Deployment", "DaemonSet", "StatefulSet")


def revisions(context: Context, info: Info) -> dict[int, Object]:
    """The objects that hold the revisions, by number."""
    deployment = info.resource.kind == "Deployment"
    resource = context.discovery.find("replicasets.apps" if deployment else "controllerrevisions.apps")
    labels = show((info.object.get("spec") or {}).get("selector"))
    uid = info.object["metadata"].get("uid")
    found = {}
    for each in context.client.list(resource, info.namespace, labels=labels).get("items") or ():
        if controller_of(each).get("uid") != uid:
            continue
        annotations = each["metadata"].get("annotations") or {}
        number = int(annotations.get(REVISION) or 0) if deployment else int(each.get("revision") or 0)
        if number:
            each.setdefault("kind", resource.kind)
            each.setdefault("apiVersion", resource.api_version)
            found[number] = each
    return dict(sorted(found.items()))


def template_of(info: Info, revision: Object) -> Object:
    """The pod template of a revision."""
    if info.resource.kind == "Deployment":
        return (revision.get("spec") or {}).get("template") or {}
    return ((revision.get("data") or {}).get("spec") or {}).get("template") or {}


def cause_of(revision: Object) -> str:
    """Why the revision came about, if somebody said."""
    return (revision["metadata"].get("annotations") or {}).get(CAUSE) or "<none>"
