"""HorizontalPodAutoscaler: why it scaled, or did not."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import HORIZONTAL_POD_AUTOSCALERS
from pybernetes.tools.why.finding import Finding, Link
from pybernetes.tools.why.world import Need, Question, World, about, condition, said

_TEXTS = {
    "AbleToScale": "It cannot scale its target.",
    "ScalingActive": "It does not know how much its target uses.",
}


def needs(autoscaler: Object) -> list[Need]:
    """Return what decides about an autoscaler."""
    return [about(autoscaler)]


def decide(autoscaler: Object, world: World) -> tuple[str, list[Finding]]:
    """Say what an autoscaler did last and what keeps it from more."""
    spec, status = autoscaler["spec"], autoscaler.get("status") or {}
    target = spec.get("scaleTargetRef") or {}
    group = str(target.get("apiVersion") or "").rpartition("/")[0]
    namespace = autoscaler["metadata"]["namespace"]
    links = [Link(target.get("kind", ""), target.get("name", ""), namespace, group)]
    findings = []
    for type_, text in _TEXTS.items():
        item = condition(autoscaler, type_)
        if item.get("status") == "False":
            findings.append(Finding(text, [said(item)], links))
    limited = condition(autoscaler, "ScalingLimited")
    if limited.get("status") == "True":
        text = f"Its limits ({spec.get('minReplicas', 1)} to {spec.get('maxReplicas')} pods) keep it from another number."
        findings.append(Finding(text, [said(limited)], links))
    scaled = [str(event.get("message") or "") for event in world.events("SuccessfulRescale")]
    if scaled or status.get("lastScaleTime"):
        text = f"It scaled last at {status.get('lastScaleTime', 'a time that it does not tell')}."
        findings.append(Finding(text, scaled[:5], links, cause=False))
    metrics = [*_metrics(spec, status)]
    if metrics:
        findings.append(Finding("What it looks at:", metrics, cause=False))
    current, desired = status.get("currentReplicas") or 0, status.get("desiredReplicas") or 0
    return f"{current} pods, {desired} wanted", findings


def _metrics(spec: Object, status: Object) -> list[str]:
    """Return each metric with its value and its target."""
    current = status.get("currentMetrics") or []
    lines = []
    for number, metric in enumerate(spec.get("metrics") or ()):
        kind = str(metric.get("type") or "")
        field = kind[:1].lower() + kind[1:]
        wanted = metric.get(field) or {}
        now = (current[number].get(field) or {}) if number < len(current) and current[number] else {}
        name = wanted.get("name") or (wanted.get("metric") or {}).get("name") or kind
        lines.append(
            f"{name}: {_value(now.get('current') or {})}, wanted {_value(wanted.get('target') or {})}"
        )
    return lines


def _value(figure: Object) -> str:
    if figure.get("averageUtilization") is not None:
        return f"{figure['averageUtilization']} %"
    return str(figure.get("averageValue") or figure.get("value") or "unknown")


WHY = Question(
    HORIZONTAL_POD_AUTOSCALERS, ("horizontalpodautoscaler", "horizontalpodautoscalers", "hpa"), needs, decide
)
