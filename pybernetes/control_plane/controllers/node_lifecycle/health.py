"""What the health of a node means for its conditions, taints and labels. Pure."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._objects.conditions import condition_of

NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
_TAINTS = {
    ("Ready", "False"): NOT_READY,
    ("Ready", "Unknown"): UNREACHABLE,
    ("MemoryPressure", "True"): "node.kubernetes.io/memory-pressure",
    ("DiskPressure", "True"): "node.kubernetes.io/disk-pressure",
    ("NetworkUnavailable", "True"): "node.kubernetes.io/network-unavailable",
    ("PIDPressure", "True"): "node.kubernetes.io/pid-pressure",
}
_UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
_OWN_KEYS = {*_TAINTS.values(), _UNSCHEDULABLE}
_LABELS = (
    ("kubernetes.io/os", "beta.kubernetes.io/os"),
    ("kubernetes.io/arch", "beta.kubernetes.io/arch"),
)
# NetworkUnavailable is kept by whoever makes the network, not by the kubelet.
_KUBELET_CONDITIONS = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
NORMAL, PARTIAL, FULL = "Normal", "PartialDisruption", "FullDisruption"


def readiness(node: Object) -> str:
    """Return the status of the condition Ready: True, False, Unknown, or an empty string."""
    ready = condition_of(node, "Ready")
    return ready["status"] if ready is not None else ""


def silent_conditions(node: Object, now: str) -> list[Object]:
    """Return the conditions of a silent node: what the kubelet reported is Unknown now."""
    by_type = {condition["type"]: condition for condition in node.get("status", {}).get("conditions") or ()}
    for type_ in _KUBELET_CONDITIONS:
        known = by_type.get(type_)
        if known is None:
            by_type[type_] = {
                "type": type_,
                "status": "Unknown",
                "lastHeartbeatTime": node["metadata"]["creationTimestamp"],
                "lastTransitionTime": now,
                "reason": "NodeStatusNeverUpdated",
                "message": "Kubelet never posted node status.",
            }
        elif known["status"] != "Unknown":
            by_type[type_] = {
                **known,
                "status": "Unknown",
                "lastTransitionTime": now,
                "reason": "NodeStatusUnknown",
                "message": "Kubelet stopped posting node status.",
            }
    return list(by_type.values())


def taints(node: Object, evict: str, now: str) -> list[Object]:
    """Return the taints that a node should have.

    Those of effect NoSchedule follow its conditions. ``evict`` says what becomes of the two that drive pods away:
    ``add`` the one that fits its readiness, ``keep`` what is there but let it fit, or ``remove`` both.
    """
    spec = node["spec"]
    wanted = [
        key
        for condition in node.get("status", {}).get("conditions") or ()
        if (key := _TAINTS.get((condition["type"], condition["status"])))
    ]
    if spec.get("unschedulable"):
        wanted.append(_UNSCHEDULABLE)
    pairs = {(key, "NoSchedule"): None for key in wanted}
    current = spec.get("taints") or []
    fitting = _TAINTS.get(("Ready", readiness(node)))
    evicting = any(_drives_away(taint) for taint in current)
    if fitting and (evict == "add" or (evict == "keep" and evicting)):
        pairs[fitting, "NoExecute"] = None
    kept = []
    for taint in current:
        pair = (taint["key"], taint["effect"])
        if (taint["effect"] == "NoSchedule" and taint["key"] in _OWN_KEYS) or _drives_away(taint):
            if pair not in pairs:
                continue
            del pairs[pair]
        kept.append(taint)
    return kept + [{"key": key, "effect": effect, "timeAdded": now} for key, effect in pairs]


def _drives_away(taint: Object) -> bool:
    return taint["effect"] == "NoExecute" and taint["key"] in (NOT_READY, UNREACHABLE)


def labels(node: Object) -> dict[str, str]:
    """Return the deprecated labels that have to be set to the values of the current ones."""
    own = node["metadata"].get("labels") or {}
    return {old: own[new] for new, old in _LABELS if new in own and own.get(old) != own[new]}


def zone_of(node: Object) -> str:
    """Return the failure domain of a node."""
    own = node["metadata"].get("labels") or {}
    zone = own.get("failure-domain.beta.kubernetes.io/zone", own.get("topology.kubernetes.io/zone", ""))
    region = own.get("failure-domain.beta.kubernetes.io/region", own.get("topology.kubernetes.io/region", ""))
    return f"{region}:{zone}" if region or zone else ""


def zone_state(size: int, bad: int, threshold: float) -> str:
    """Return how much of a zone is out of order, given how many nodes it has and how many are not ready."""
    if bad and bad == size:
        return FULL
    if bad > 2 and bad / size >= threshold:
        return PARTIAL
    return NORMAL


def eviction_rate(state: str, size: int, rates: tuple[float, float], large: int) -> float:
    """Return how many nodes of a zone may be evicted per second; none in a small zone that is partly out of order."""
    if state == PARTIAL:
        return rates[1] if size > large else 0.0
    return rates[0]
