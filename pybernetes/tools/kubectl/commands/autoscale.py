"""autoscale: makes an autoscaler for a workload."""

from __future__ import annotations

import re

from pybernetes.tools.kubectl import TYPE_CHECKING, log
from pybernetes.tools.kubectl.apply.last_applied import annotate
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands.create._generator import ordered
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.discovery import Resource
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Auto-scale a deployment, replica set, stateful set, or replication controller"
USAGE = "autoscale (-f FILENAME | TYPE NAME | TYPE/NAME) [--min=MINPODS] --max=MAXPODS [--cpu=CPU] [--memory=MEMORY]"
COMPLETION = "types deployment replicaset replicationcontroller statefulset"
FLAGS = (
    shared_flags.FILES, shared_flags.PRINT, shared_flags.DRY_RUN, shared_flags.SAVE_CONFIG, shared_flags.RECORD,
    shared_flags.field_manager("kubectl-autoscale"),
    """
- cpu string | target for CPU: a share of the request (70%) or an average (500m)
- cpu-percent int -1 |
- max int -1 | upper limit of the number of pods
- memory string | target for memory: a share of the request (70%) or an average (100Mi)
- min int -1 | lower limit of the number of pods
- name string | name of the autoscaler
""",
)  # fmt: skip
REQUIRED = ("max",)
DEPRECATED = {
    "cpu-percent": "Use --cpu with percentage or resource quantity format (e.g., '70%' for utilization or '500m' for milliCPU)."
}
_NAMES = ("horizontalpodautoscalers", "horizontalpodautoscaler", "HorizontalPodAutoscaler", True)
_AUTOSCALER, _OLDER = (Resource("autoscaling", version, *_NAMES) for version in ("v2", "v1"))
_UNITS = {"cpu": "m", "memory": "Mi"}


def run(context: Context) -> None:
    """Make an autoscaler for each object."""
    flags = context.flags
    dry_run = context.dry_run()
    if flags.max < 1:
        raise CommandError(f"--max=MAXPODS is required and must be at least 1, max: {flags.max}")
    if flags.max < flags.min:
        raise CommandError(
            f"--max=MAXPODS must be larger or equal to --min=MINPODS, max: {flags.max}, min: {flags.min}"
        )
    if flags.cpu_percent > 0 and flags.cpu:
        raise CommandError("--cpu-percent and --cpu are mutually exclusive")
    cpu = f"{flags.cpu_percent}%" if flags.cpu_percent > 0 else flags.cpu
    metrics = [
        {"type": "Resource", "resource": {"name": name, "target": _target(name, text.strip())}}
        for name, text in (("cpu", cpu), ("memory", flags.memory))
        if text
    ]
    builder = Builder.from_flags(context, continue_on_error=True)
    if not builder.for_each(lambda info: _one(context, info, metrics, dry_run)):
        raise CommandError("no objects passed to autoscale")


def _one(context: Context, info: Info, metrics: list[Object], dry_run: str) -> None:
    flags = context.flags
    if "scale" not in info.resource.subresources:
        kind = f"{info.resource.group}/{info.resource.version}, Resource={info.resource.plural}"
        raise CommandError(
            f"cannot autoscale a {info.resource.kind}: could not find scale subresource for {kind} in discovery information"
        )
    spec: Object = {
        "scaleTargetRef": {
            "kind": info.resource.kind,
            "name": info.name,
            "apiVersion": info.resource.api_version,
        }
    }
    if flags.min > 0:
        spec["minReplicas"] = flags.min
    spec["maxReplicas"] = flags.max
    if metrics:
        spec["metrics"] = metrics
    metadata = {"name": flags.name or info.name}
    if context.namespace_given:
        metadata["namespace"] = context.namespace
    value: Object = {
        "kind": "HorizontalPodAutoscaler", "apiVersion": "autoscaling/v2", "metadata": metadata, "spec": spec,
        "status": {"desiredReplicas": 0, "currentMetrics": None},
    }  # fmt: skip
    value = context.record(value)
    if dry_run != "client":
        if flags.save_config:
            value = annotate(value, typed=True)
        value["metadata"] = {"name": metadata["name"], "namespace": context.namespace, **value["metadata"]}
        value = _create(context, value)
    printers.make(context, "created" if dry_run == "client" else "autoscaled", typed=True)(value)


def _create(context: Context, value: Object) -> Object:
    """Create an autoscaler; if the server will not have it in autoscaling/v2, try autoscaling/v1 where that can say the same."""
    sent = {key: item for key, item in value.items() if key != "status"}
    query = context.write_query()
    try:
        return ordered(context.client.create(_AUTOSCALER, context.namespace, sent, query=query))
    except CommandError as error:
        why = error.message
    log.line(
        "autoscale.go:259",
        f"Encountered an error with the autoscaling/v2 HorizontalPodAutoscaler: {why}. Falling back to try the "
        "autoscaling/v1 HorizontalPodAutoscaler",
        1,
    )
    flags = context.flags
    reason = "" if flags.cpu else "empty input"
    if reason or flags.memory or not (flags.cpu.endswith("%") or flags.cpu_percent >= 0):
        raise CommandError(
            "failed to create autoscaling/v2 HPA and the configuration is incompatible with autoscaling/v1: "
            + (reason or "%!w(<nil>)")
        )
    spec = {key: item for key, item in sent["spec"].items() if key != "metrics"}
    for metric in sent["spec"].get("metrics") or ():
        spec["targetCPUUtilizationPercentage"] = metric["resource"]["target"]["averageUtilization"]
    older = {**sent, "apiVersion": "autoscaling/v1", "spec": spec}
    return ordered(context.client.create(_OLDER, context.namespace, older, query=query))


def _target(name: str, text: str) -> Object:
    """Return what to aim at: a share of what pods request, or a quantity; a bare number is millicores or MiB."""
    from pybernetes.api.quantity import QuantityError, canonical

    if not text:
        raise CommandError("empty input")
    if text.endswith("%"):
        share = text[:-1]
        if not re.fullmatch(r"\+?[0-9]+", share) or int(share) >= 2**31:
            raise CommandError(f"invalid percentage value: {share}")
        return {"type": "Utilization", "averageUtilization": int(share)}
    bare = re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)", text)
    try:
        return {"type": "AverageValue", "averageValue": canonical(text + _UNITS[name] if bare else text)}
    except QuantityError:
        raise CommandError(f"invalid resource {name} value: {text}") from None
