"""Horizontal pod autoscalers."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._writer import Writer
from pybernetes.tools.kubectl.errors import quoted
from pybernetes.tools.kubectl.output.times import rfc1123z

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = "autoscaling"

_UNKNOWN = "<unknown>"


def describe(writer: Writer, value: Object) -> None:
    """Write an autoscaler."""
    spec, status = value.get("spec") or {}, value.get("status") or {}
    target = spec.get("scaleTargetRef") or {}
    writer.name(value)
    writer.marks(value)
    writer.field("CreationTimestamp", rfc1123z(value["metadata"].get("creationTimestamp")))
    writer.field("Reference", f"{target.get('kind', '')}/{target.get('name', '')}")
    if value.get("apiVersion") == "autoscaling/v1":
        _first_version(writer, spec, status)
    else:
        writer.field("Metrics", "( current / target )")
        current = status.get("currentMetrics") or []
        for place, metric in enumerate(spec.get("metrics") or ()):
            _metric(writer, metric, (current[place] if place < len(current) else None) or {})
    writer.field("Min replicas", spec.get("minReplicas", "<unset>"))
    writer.field("Max replicas", spec.get("maxReplicas", 0))
    behavior = spec.get("behavior")
    if behavior:
        writer.line("Behavior:")
        _behavior(writer, "Scale Up", behavior.get("scaleUp"))
        _behavior(writer, "Scale Down", behavior.get("scaleDown"))
    writer.field(
        f"{target.get('kind', '')} pods",
        f"{status.get('currentReplicas', 0)} current / {status.get('desiredReplicas', 0)} desired",
    )
    if status.get("conditions"):
        writer.line("Conditions:")
        writer.heading("Type", "Status", "Reason", "Message")
        for condition in status["conditions"]:
            writer.line(
                f"{condition['type']}\t{condition['status']}\t{condition.get('reason', '')}\t{condition.get('message', '')}",
                1,
            )
    writer.events()


def _first_version(writer: Writer, spec: Object, status: Object) -> None:
    if spec.get("targetCPUUtilizationPercentage") is not None:
        writer.field("Target CPU utilization", f"{spec['targetCPUUtilizationPercentage']}%")
        writer.field("Current CPU utilization", f"{status.get('currentCPUUtilizationPercentage', _UNKNOWN)}%")


def _metric(writer: Writer, metric: Object, current: Object) -> None:
    kind = metric.get("type", "")
    key = {
        "Resource": "resource",
        "ContainerResource": "containerResource",
        "Pods": "pods",
        "Object": "object",
        "External": "external",
    }.get(kind)
    if key is None:
        writer.line(f"<unknown metric type {quoted(kind)}>", 1)
        return
    source = metric.get(key) or {}
    target, now = source.get("target") or {}, (current.get(key) or {}).get("current") or {}
    name = (source.get("metric") or {}).get("name", "")
    if kind in ("Resource", "ContainerResource"):
        of = f' of container "{source.get("container")}"' if kind == "ContainerResource" else ""
        label = f"resource {source.get('name')}{of} on pods"
        if target.get("averageValue") is not None:
            writer.field(label, f"{now.get('averageValue', _UNKNOWN)} / {target['averageValue']}", 1)
            return
        share = (
            f"{now['averageUtilization']}% ({now.get('averageValue')})"
            if now.get("averageUtilization") is not None
            else _UNKNOWN
        )
        wanted = (
            f"{target['averageUtilization']}%" if target.get("averageUtilization") is not None else "<auto>"
        )
        writer.field(f"{label}  (as a percentage of request)", f"{share} / {wanted}", 1)
        return
    if kind == "Pods":
        writer.field(
            f"{quoted(name)} on pods",
            f"{now.get('averageValue', _UNKNOWN)} / {target.get('averageValue')}",
            1,
        )
        return
    about = source.get("describedObject") or {}
    label = f"{quoted(name)} on {about.get('kind')}/{about.get('name')}" if kind == "Object" else quoted(name)
    average = target.get("averageValue") is not None
    field = "averageValue" if average else "value"
    writer.field(
        f"{label} (target {'average ' if average else ''}value)",
        f"{now.get(field, _UNKNOWN)} / {target.get(field)}",
        1,
    )


def _behavior(writer: Writer, title: str, rules: Object | None) -> None:
    if rules is None:
        return
    writer.line(f"{title}:", 1)
    if rules.get("stabilizationWindowSeconds") is not None:
        writer.line(f"Stabilization Window: {rules['stabilizationWindowSeconds']} seconds", 2)
    if rules.get("policies"):
        writer.line(f"Select Policy: {rules.get('selectPolicy', 'Max')}", 2)
        writer.line("Policies:", 2)
        for policy in rules["policies"]:
            writer.line(
                f"- Type: {policy['type']}\tValue: {policy['value']}\tPeriod: {policy['periodSeconds']} seconds",
                3,
            )
