"""Pods."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._pods import containers, resources, spread, tolerations
from pybernetes.tools.kubectl.describe._volumes import volumes
from pybernetes.tools.kubectl.describe._writer import Writer, controlled_by
from pybernetes.tools.kubectl.output.times import rfc1123z, since

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


GROUP = ""

_MIRROR = "kubernetes.io/config.mirror"


def describe(writer: Writer, pod: Object) -> None:
    """Write a pod."""
    metadata, spec, status = pod["metadata"], pod.get("spec") or {}, pod.get("status") or {}
    writer.name(pod)
    writer.some("Priority", spec.get("priority"))
    writer.some("Priority Class Name", spec.get("priorityClassName"))
    writer.some("Runtime Class Name", spec.get("runtimeClassName"))
    writer.some("Service Account", spec.get("serviceAccountName"))
    writer.field(
        "Node", f"{spec['nodeName']}/{status.get('hostIP', '')}" if spec.get("nodeName") else "<none>"
    )
    if status.get("startTime"):
        writer.field("Start Time", rfc1123z(status["startTime"]))
    writer.marks(pod)
    if metadata.get("deletionTimestamp") and status.get("phase") not in ("Failed", "Succeeded"):
        writer.field("Status", f"Terminating (lasts {since(metadata['deletionTimestamp'])})")
        writer.field("Termination Grace Period", f"{metadata.get('deletionGracePeriodSeconds')}s")
    else:
        writer.field("Status", status.get("phase", ""))
    writer.some("Reason", status.get("reason"))
    writer.some("Message", status.get("message"))
    profile = (spec.get("securityContext") or {}).get("seccompProfile")
    if profile:
        writer.field("SeccompProfile", profile.get("type", ""))
        if profile.get("type") == "Localhost":
            writer.field("LocalhostProfile", profile.get("localhostProfile", ""))
    writer.field("IP", status.get("podIP", ""))
    if status.get("podIPs"):
        writer.line("IPs:")
        for address in status["podIPs"]:
            writer.field("IP", address.get("ip", ""), 1)
    else:
        writer.line("IPs:\t<none>")
    writer.some("Controlled By", controlled_by(pod))
    writer.some("NominatedNodeName", status.get("nominatedNodeName"))
    if spec.get("resources") is not None:
        writer.line("Resources:")
        resources(writer, spec["resources"], 1)
    if spec.get("initContainers"):
        containers(
            writer, "Init Containers", spec["initContainers"], status.get("initContainerStatuses"), pod
        )
    containers(writer, "Containers", spec.get("containers"), status.get("containerStatuses"), pod)
    if spec.get("ephemeralContainers"):
        containers(
            writer,
            "Ephemeral Containers",
            spec["ephemeralContainers"],
            status.get("ephemeralContainerStatuses"),
            pod,
        )
    _conditions(writer, spec, status)
    volumes(writer, spec.get("volumes"))
    writer.field("QoS Class", status.get("qosClass") or "BestEffort")
    writer.labels("Node-Selectors", spec.get("nodeSelector"))
    tolerations(writer, "Tolerations", spec.get("tolerations"))
    spread(writer, spec.get("topologySpreadConstraints"))
    mirror = (metadata.get("annotations") or {}).get(_MIRROR) or ""
    if writer.with_events:
        writer.events(writer.find_events(kind=False, uid=mirror))


def _conditions(writer: Writer, spec: Object, status: Object) -> None:
    listed = status.get("conditions") or []
    if spec.get("readinessGates"):
        writer.put("Readiness Gates:\n  Type\tStatus\n")
        for gate in spec["readinessGates"]:
            gate_status = next(
                (condition["status"] for condition in listed if condition["type"] == gate["conditionType"]),
                "<none>",
            )
            writer.line(f"{gate['conditionType']} \t{gate_status} ", 1)
    if listed:
        writer.put("Conditions:\n  Type\tStatus\n")
        for condition in listed:
            writer.line(f"{condition['type']} \t{condition['status']} ", 1)
