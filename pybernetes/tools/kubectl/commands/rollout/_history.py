"""Revisions of workloads: replica sets of deployments, controller revisions of the others."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.describe._writer import controller_of
from pybernetes.tools.kubectl.resources.info import Info
from pybernetes.tools.kubectl.resources.label_selector import show

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


REVISION = "deployment.kubernetes.io/revision"
CAUSE = "kubernetes.io/change-cause"
KINDS = ("Deployment", "DaemonSet", "StatefulSet")


def revisions(context: Context, info: Info) -> dict[int, Object]:
    """Return the objects that hold the revisions, by number."""
    deployment = info.resource.kind == "Deployment"
    resource = context.discovery.find("replicasets.apps" if deployment else "controllerrevisions.apps")
    labels = show((info.object.get("spec") or {}).get("selector"))
    uid = info.object["metadata"].get("uid")
    by_number = {}
    for revision in context.client.list(resource, info.namespace, chunk=0, labels=labels).get("items") or ():
        if controller_of(revision).get("uid") != uid:
            continue
        annotations = revision["metadata"].get("annotations") or {}
        number = int(annotations.get(REVISION) or 0) if deployment else int(revision.get("revision") or 0)
        if number:
            revision.setdefault("kind", resource.kind)
            revision.setdefault("apiVersion", resource.api_version)
            by_number[number] = revision
    return dict(sorted(by_number.items()))


def template_of(info: Info, revision: Object) -> Object:
    """Return the pod template of a revision."""
    if info.resource.kind == "Deployment":
        return (revision.get("spec") or {}).get("template") or {}
    template = ((revision.get("data") or {}).get("spec") or {}).get("template") or {}
    return {field: value for field, value in template.items() if field != "$patch"}


def cause_of(revision: Object) -> str:
    """Return the recorded cause of a revision."""
    return (revision["metadata"].get("annotations") or {}).get(CAUSE) or "<none>"
