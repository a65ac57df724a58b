"""What the health of a node means for its conditions, taints and labels. Pure."""

from __future__ import annotations

from typing import Any

from pybernetes.control_plane.controllers._pods import condition

Object = dict[str, Any]
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
    """The status of the condition Ready: True, False, Unknown, or nothing."""
    found = condition(node, "Ready")
    return found["status"] if found is not None else ""


def silent_conditions(node: Object, now: str) -> list[Object]:
    """The conditions of a node that has not been heard of: what the kubelet said is not known any more."""
    found = {each["type"]: each for each in node.get("status", {}).get("conditions") or ()}
    for type_ in _KUBELET_CONDITIONS:
        known = found.get(type_)
        if known is None:
            found[type_] = {
                "type": type_,
                "status": "Unknown",
                "lastHeartbeatTime": node["metadata"]["creationTimestamp"],
                "lastTransitionTime": now,
                "reason": "NodeStatusNeverUpdated",
                "message": "Kubelet never posted node status.",
            }
        elif known["status"] != "Unknown":
            found[type_] = {
                **known,
                "status": "Unknown",
                "lastTransitionTime": now,
                "reason": "NodeStatusUnknown",
                "message": "Kubelet stopped posting node status.",
            }
    return list(found.values())


def taints(node: Object, evict: str, now: str) -> list[Object]:
    """The taints that a node should have.

    Those of effect NoSchedule follow its conditions. ``evict`` says what becomes of the two that drive pods away:
    ``add`` the one that fits its readiness, ``keep`` what is there but let it fit, or ``remove`` both.
    """
    spec = node["spec"]
    wanted = [
        key
        for each in node.get("status", {}).get("conditions") or ()
        if (key := _TAINTS.get((each["type"], each["status"])))
    ]
    if spec.get("unschedulable"):
        wanted.append(_UNSCHEDULABLE)
    pairs = {(key, "NoSchedule"): None for key in wanted}
    current = spec.get("taints") or []
    fitting = _TAINTS.get(("Ready", readiness(node)))
    evicting = any(_drives_away(each) for each in current)
    if fitting and (evict == "add" or (evict == "keep" and evicting)):
        pairs[fitting, "NoExecute"] = None
    kept = []
    for each in current:
        pair = (each["key"], each["effect"])
        if (each["effect"] == "NoSchedule" and each["key"] in _OWN_KEYS) or _drives_away(each):
            if pair not in pairs:
                continue
            del pairs[pair]
        kept.append(each)
    return kept + [{"key": key, "effect": effect, "timeAdded": now} for key, effect in pairs]


def _drives_away(taint: Object) -> bool:
    return taint["effect"] == "NoExecute" and taint["key"] in (NOT_READY, UNREACHABLE)


def labels(node: Object) -> dict[str, str]:
    """The old labels that have to be set to what the new ones say."""
    own = node["metadata"].get("labels") or {}
    return {old: own[new] for new, old in _LABELS if new in own and own.get(old) != own[new]}


def zone_of(node: Object) -> str:
    """The failure domain of a node."""
    own = node["metadata"].get("labels") or {}
    zone = own.get("failure-domain.beta.kubernetes.io/zone", own.get("topology.kubernetes.io/zone", ""))
    region = own.get("failure-domain.beta.kubernetes.io/region", own.get("topology.kubernetes.io/region", ""))
    return f"{region}:{zone}" if region or zone else ""


def zone_state(size: int, bad: int, threshold: float) -> str:
    """How much of a zone is out of order, given how many nodes it has and how many are not ready."""
    if bad and bad == size:
        return FULL
    if bad > 2 and bad / size >= threshold:
        return PARTIAL
    return NORMAL


def eviction_rate(state: str, size: int, rates: tuple[float, float], large: int) -> float:
    """How many nodes of a zone may be evicted per second; none in a small zone that is partly out of order."""
    if state == PARTIAL:
        return rates[1] if size > large else 0.0
    return rates[0]
