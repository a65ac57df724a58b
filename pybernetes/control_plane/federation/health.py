"""Whether a cluster is well: what a probe found, and how many of them it takes to believe it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pybernetes.api.resource import Object

READY, OFFLINE, MALFORMED = "Ready", "Offline", "ClusterConfigMalformed"
ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
_OLDER = {ZONE: "failure-domain.beta.kubernetes.io/zone", REGION: "failure-domain.beta.kubernetes.io/region"}
_LONGEST_MESSAGE = 1024
_LONGEST_LABEL, _MOST_ZONES = 63, 64  # whatever a member says


@dataclass(frozen=True)
class Probe:
    """What one look at a cluster found: ready, answering but not ready, not reachable, or no way to ask."""

    healthy: bool = False
    reachable: bool = False
    usable: bool = True
    message: str = ""


@dataclass(frozen=True)
class Judgement:
    """What is believed of a cluster, and how many probes in a row have said something else."""

    conditions: tuple[Object, ...] = ()
    against: int = 0


def is_ready(cluster: Object) -> bool:
    """Return whether a KubeFedCluster says that its cluster is ready."""
    conditions = (cluster.get("status") or {}).get("conditions") or ()
    return any(
        condition.get("type") == READY and condition.get("status") == "True" for condition in conditions
    )


def judge(before: Judgement, probe: Probe, failures: int, successes: int, now: str) -> Judgement:
    """Return what is believed after one more probe; a change needs so many of them in a row.

    The first probe of all is believed at once.
    """
    new = _conditions(probe, now)
    if before.conditions:
        ready = _ready(before.conditions)
        if probe.healthy != ready:
            against = before.against + 1
            if against < (successes if probe.healthy else failures):
                return Judgement(tuple({**row, "lastProbeTime": now} for row in before.conditions), against)
        since = {(row["type"], row["status"]): row["lastTransitionTime"] for row in before.conditions}
        for row in new:
            row["lastTransitionTime"] = since.get((row["type"], row["status"]), now)
    return Judgement(tuple(new), 0)


def _ready(conditions: Iterable[Object]) -> bool:
    return any(row["type"] == READY and row["status"] == "True" for row in conditions)


def _conditions(probe: Probe, now: str) -> list[Object]:
    def condition(type_: str, status: str, reason: str, message: str) -> Object:
        return {
            "type": type_, "status": status, "reason": reason, "message": message[:_LONGEST_MESSAGE],
            "lastProbeTime": now, "lastTransitionTime": now,
        }  # fmt: skip

    if not probe.usable:
        text = f"cluster's configuration may be malformed: {probe.message}"
        return [condition(MALFORMED, "True", "ClusterConfigMalformed", text)]
    if probe.healthy:
        return [condition(READY, "True", "ClusterReady", "/healthz responded with ok")]
    if probe.reachable:
        return [
            condition(READY, "False", "ClusterNotReady", "/healthz responded without ok"),
            condition(OFFLINE, "False", "ClusterReachable", "cluster is reachable"),
        ]
    text = "cluster is not reachable" + (f": {probe.message}" if probe.message else "")
    return [condition(OFFLINE, "True", "ClusterNotReachable", text)]


def places(labels: Iterable[Mapping[str, str]]) -> tuple[list[str], str]:
    """Return the zones and the region of a cluster whose nodes have these labels."""
    zones: set[str] = set()
    region = ""
    for node in labels:
        zones.add(node.get(ZONE) or node.get(_OLDER[ZONE], ""))
        region = region or node.get(REGION) or node.get(_OLDER[REGION], "")
    zones = {zone[:_LONGEST_LABEL] for zone in zones}
    return sorted(zones - {""})[:_MOST_ZONES], region[:_LONGEST_LABEL]
