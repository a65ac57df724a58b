"""What an object has before anybody sets anything.

Upstream's objects are Go structs: a field that holds a struct by value, or one that is never left out, is
there from the start, so whoever fills it owns what is inside of it and not the field itself.
"""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.api.schema import Type

_ALWAYS = frozenset({"metadata", "spec", "status"})
# Structs held by value, beyond the three that every kind has; by the name of the type that holds them.
_BY_VALUE: dict[str, tuple[str, ...]] = {
    "AllocationResult": ("devices",),
    "Binding": ("target",),
    "ClusterRoleBinding": ("roleRef",),
    "Container": ("resources",),
    "ContainerResourceMetricSource": ("target",),
    "ContainerResourceMetricStatus": ("current",),
    "ContainerStatus": ("lastState", "state"),
    "CronJobSpec": ("jobTemplate",),
    "CustomResourceDefinitionSpec": ("names",),
    "CustomResourceDefinitionStatus": ("acceptedNames",),
    "DaemonSetSpec": ("template", "updateStrategy"),
    "DeploymentSpec": ("strategy", "template"),
    "DeviceTaintRuleSpec": ("taint",),
    "Endpoint": ("conditions",),
    "EphemeralContainer": ("resources",),
    "Event": ("deprecatedSource", "involvedObject", "regarding", "source"),
    "ExternalMetricSource": ("metric", "target"),
    "ExternalMetricStatus": ("current", "metric"),
    "FlowSchemaSpec": ("priorityLevelConfiguration",),
    "HTTPIngressPath": ("backend",),
    "HorizontalPodAutoscalerSpec": ("scaleTargetRef",),
    "IngressServiceBackend": ("port",),
    "IngressStatus": ("loadBalancer",),
    "JobSpec": ("template",),
    "LimitedPriorityLevelConfiguration": ("limitResponse",),
    "MutatingWebhook": ("clientConfig",),
    "NetworkPolicySpec": ("podSelector",),
    "NodeDaemonEndpoints": ("kubeletEndpoint",),
    "NodeStatus": ("daemonEndpoints", "nodeInfo"),
    "ObjectMetricSource": ("describedObject", "metric", "target"),
    "ObjectMetricStatus": ("current", "describedObject", "metric"),
    "PersistentVolumeClaimSpec": ("resources",),
    "PodTemplate": ("template",),
    "PodsMetricSource": ("metric", "target"),
    "PodsMetricStatus": ("current", "metric"),
    "PreferredSchedulingTerm": ("preference",),
    "ReplicaSetSpec": ("template",),
    "ResourceClaimSpec": ("devices",),
    "ResourceMetricSource": ("target",),
    "ResourceMetricStatus": ("current",),
    "ResourceSliceSpec": ("pool",),
    "RoleBinding": ("roleRef",),
    "ServiceStatus": ("loadBalancer",),
    "StatefulSetSpec": ("template", "updateStrategy"),
    "ValidatingWebhook": ("clientConfig",),
    "VolumeAttachmentSpec": ("source",),
    "WeightedPodAffinityTerm": ("podAffinityTerm",),
}
# Structs, beyond conditions, whose times are not pointers: unset they are null, not absent.
_HAVE_TIMES = frozenset({"ContainerStateRunning", "ContainerStateTerminated", "EventSeries", "VolumeError"})
# Fields that are never left out although the schema does not require them, and the other way round.
_NEVER_OMITTED: dict[str, tuple[str, ...]] = {
    "ClusterRole": ("rules",),
    "ControllerRevision": ("revision",),
    "CustomResourceDefinitionStatus": ("conditions", "storedVersions"),
    "DeviceClaim": ("requests",),
    "EndpointSlice": ("endpoints", "ports"),
    "Event": ("eventTime", "reportingComponent", "reportingInstance"),
    "FlowSchemaSpec": ("matchingPrecedence",),
    "PodDisruptionBudgetStatus": ("currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods"),
    "PriorityClass": ("value",),
    "Role": ("rules",),
    "RoleRef": ("apiGroup",),
    "StatefulSetSpec": ("serviceName",),
    "StatefulSetStatus": ("availableReplicas",),
}
_OMITTED: dict[str, tuple[str, ...]] = {
    "HorizontalPodAutoscalerStatus": ("currentReplicas",),
    "IPAddressSpec": ("parentRef",),
    "TokenReviewSpec": ("token",),
    "ValidatingAdmissionPolicyBindingSpec": ("policyName", "validationActions"),
}
_ZERO = {"string": "", "integer": 0, "number": 0, "boolean": False, "quantity": "0"}
ZEROS: dict[Type, Object] = {}
HELD: dict[Type, frozenset[str]] = {}


def by_value(type_: Type) -> frozenset[str]:
    """Return the fields of a struct that hold a struct or a time by value: empty and absent are the same for them."""
    held = HELD.get(type_)
    if held is None:
        if len(HELD) > 10_000:  # types of custom resources come and go
            HELD.clear()
        names = _ALWAYS | {*_BY_VALUE.get(type_.name, ())} if type_.name else frozenset()
        structs = {name for name in names if name in type_.fields and type_.fields[name].kind == "struct"}
        times = type_.name.endswith("Condition") or type_.name in _HAVE_TIMES
        held = HELD[type_] = frozenset(structs | (_times(type_) if times else set()))
    return held


def _times(type_: Type) -> set[str]:
    return {name for name, field in type_.fields.items() if field.kind in ("time", "microtime")}


def of(type_: Type) -> Object:
    """Return the object of a type in which nothing is set."""
    zero_object = ZEROS.get(type_)
    if zero_object is None:
        if len(ZEROS) > 10_000:
            ZEROS.clear()
        zero_object = ZEROS[type_] = _build(type_)
    return zero_object


def _build(type_: Type) -> Object:
    # A custom resource is kept as plain JSON: nothing is there that nobody has set, but its metadata.
    if type_.name == "":
        return {"metadata": {}} if "metadata" in type_.fields or not type_.fields else {}
    fields = type_.fields
    zero: Object = {
        name: of(fields[name]) if fields[name].kind == "struct" else None for name in by_value(type_)
    }
    omitted = _OMITTED.get(type_.name, ())
    for name in (*type_.required, *_NEVER_OMITTED.get(type_.name, ())):
        if name not in zero and name in type_.fields and name not in omitted:
            zero[name] = _ZERO.get(type_.fields[name].kind)
    return zero
