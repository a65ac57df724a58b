"""Deployments."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._pods import conditions, template
from pybernetes.tools.kubectl.describe._writer import Writer, controller_of
from pybernetes.tools.kubectl.output.times import rfc1123z
from pybernetes.tools.kubectl.resources.label_selector import show

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = "apps"


def describe(writer: Writer, value: Object) -> None:
    """Write a deployment and its replica sets."""
    metadata, spec, status = value["metadata"], value.get("spec") or {}, value.get("status") or {}
    writer.name(value)
    writer.field("CreationTimestamp", rfc1123z(metadata.get("creationTimestamp")))
    writer.marks(value)
    selector = show(spec.get("selector"))
    writer.field("Selector", selector)
    counts = [
        status.get(key, 0)
        for key in ("updatedReplicas", "replicas", "availableReplicas", "unavailableReplicas")
    ]
    writer.field(
        "Replicas",
        f"{spec.get('replicas')} desired | {counts[0]} updated | {counts[1]} total | {counts[2]} available | {counts[3]} unavailable",
    )
    strategy = spec.get("strategy") or {}
    writer.field("StrategyType", strategy.get("type", ""))
    writer.field("MinReadySeconds", spec.get("minReadySeconds", 0))
    rolling = strategy.get("rollingUpdate")
    if rolling:
        writer.field(
            "RollingUpdateStrategy",
            f"{rolling.get('maxUnavailable')} max unavailable, {rolling.get('maxSurge')} max surge",
        )
    template(writer, spec.get("template"))
    conditions(writer, value)
    old, new = replica_sets(writer, value, selector)
    if old or new:
        writer.field("OldReplicaSets", _names(old))
        writer.field("NewReplicaSet", _names(new))
    writer.events()


def replica_sets(writer: Writer, value: Object, selector: str) -> tuple[list[Object], list[Object]]:
    """Return the old replica sets of a deployment, and the one of its present template."""
    metadata = value["metadata"]
    listed = [
        replica_set
        for replica_set in writer.list("replicasets", metadata.get("namespace", ""), labels=selector)
        if controller_of(replica_set).get("uid") == metadata.get("uid")
    ]
    listed.sort(key=lambda replica_set: replica_set["metadata"].get("creationTimestamp", ""))
    template = _template(value)
    new = next(
        (replica_set for replica_set in listed if same_template(_template(replica_set), template)), None
    )
    return [replica_set for replica_set in listed if replica_set is not new], [new] if new else []


def _template(value: Object) -> Object:
    return (value.get("spec") or {}).get("template") or {}


def same_template(replica_sets: Object, deployments: Object) -> bool:
    """Return whether two pod templates are alike but for the hash that a replica set adds."""
    return _clean(without_hash(replica_sets)) == _clean(deployments)


def without_hash(template: Object) -> Object:
    """Return the pod template of a replica set without the label that only replica sets have."""
    metadata = template.get("metadata") or {}
    labels = {
        name: text for name, text in (metadata.get("labels") or {}).items() if name != "pod-template-hash"
    }
    return {**template, "metadata": {**metadata, "labels": labels}}


def _clean(template: Object) -> Object:
    metadata = {
        name: value
        for name, value in (template.get("metadata") or {}).items()
        if value and name != "creationTimestamp"
    }
    return {**template, "metadata": metadata}


def _names(listed: list[Object]) -> str:
    return (
        ", ".join(
            f"{replica_set['metadata']['name']} ({(replica_set.get('status') or {}).get('replicas', 0)}/{replica_set['spec'].get('replicas')} replicas created)"
            for replica_set in listed
        )
        or "<none>"
    )
