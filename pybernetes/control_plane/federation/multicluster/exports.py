"""What becomes of a service that clusters export: one service, with the settings of the oldest export. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pybernetes.api.resource import Object
from pybernetes.control_plane.federation.multicluster.soundness import is_sound_export, is_sound_service

VALID, READY, CONFLICT = "Valid", "Ready", "Conflict"
# Settings of which the oldest export decides, with the reason that others are told.
_SETTINGS: tuple[tuple[str, str, Any], ...] = (
    ("sessionAffinity", "SessionAffinityConflict", "None"),
    ("sessionAffinityConfig", "SessionAffinityConfigConflict", None),
    ("internalTrafficPolicy", "InternalTrafficPolicyConflict", "Cluster"),
    ("trafficDistribution", "TrafficDistributionConflict", None),
)


class Export(NamedTuple):
    """An export of one cluster, and the Service that it names; None if there is none."""

    cluster: str
    export: Object
    service: Object | None

    @property
    def problem(self) -> tuple[str, str] | None:
        """The reason and the message why it cannot be exported."""
        if self.service is None:
            return "NoService", "there is no Service of this name"
        if not is_sound_service(self.service) or not is_sound_export(self.export):
            return "InvalidService", "the Service, or what is exported of it, makes no sense"
        if self.service["spec"].get("type") == "ExternalName":
            return "InvalidServiceType", "a Service of the type ExternalName cannot be exported"
        return None

    @property
    def is_headless(self) -> bool:
        """Whether the Service has no address of its own."""
        assert self.service is not None
        return self.service["spec"].get("clusterIP") == "None"


class Shared(NamedTuple):
    """A service as all clusters have it, the clusters that it comes from, and what they do not agree about."""

    spec: Object  # of the import, without addresses
    labels: dict[str, str]
    annotations: dict[str, str]
    clusters: tuple[str, ...]
    conflicts: tuple[tuple[str, str], ...]  # reason and message
    strays: dict[str, frozenset[str]]  # by cluster: names of ports that have another number there

    @property
    def is_headless(self) -> bool:
        """Whether it has no address of its own."""
        return bool(self.spec["type"] == "Headless")


def shared(exports: Iterable[Export]) -> Shared | None:
    """Return the service that exports make together; None if none of them can be exported."""
    valid = sorted((export for export in exports if export.problem is None), key=_age)
    if not valid:
        return None
    oldest = valid[0]
    spec, conflicts = _settings(valid)
    ports, clash = _ports(valid)
    if clash:
        conflicts.insert(0, ("PortConflict", clash))
    labels, unlike = _exported(valid, "exportedLabels")
    if unlike:
        conflicts.append(("LabelsConflict", f"other labels are exported than by {oldest.cluster}"))
    annotations, unlike = _exported(valid, "exportedAnnotations")
    if unlike:
        conflicts.append(("AnnotationsConflict", f"other annotations are exported than by {oldest.cluster}"))
    clusters = tuple(sorted(export.cluster for export in valid))
    strays = {export.cluster: _strays(export, ports) for export in valid}
    return Shared({**spec, "ports": ports}, labels, annotations, clusters, tuple(conflicts), strays)


def _age(export: Export) -> tuple[str, str]:
    return export.export["metadata"].get("creationTimestamp") or "", export.cluster


def _settings(valid: Sequence[Export]) -> tuple[Object, list[tuple[str, str]]]:
    oldest = valid[0]
    assert oldest.service is not None
    conflicts: list[tuple[str, str]] = []
    if any(export.is_headless != oldest.is_headless for export in valid):
        kind = "headless" if oldest.is_headless else "not headless"
        conflicts.append(("TypeConflict", f"the Service of {oldest.cluster}, the oldest export, is {kind}"))
    spec: Object = {"type": "Headless" if oldest.is_headless else "ClusterSetIP"}
    spec["ipFamilies"] = oldest.service["spec"].get("ipFamilies") or ["IPv4"]
    for name, reason, default in _SETTINGS:
        value = oldest.service["spec"].get(name, default)
        if value is not None:
            spec[name] = value
        if any(_service(export).get(name, default) != value for export in valid):
            conflicts.append((reason, f"{name} is that of {oldest.cluster}, the oldest export"))
    return spec, conflicts


def _service(export: Export) -> Object:
    assert export.service is not None
    spec: Object = export.service["spec"]
    return spec


def _ports(valid: Sequence[Export]) -> tuple[list[Object], str]:
    """Return the ports of all, those of older exports first; and what is not the same everywhere."""
    ports: dict[str, Object] = {}
    taken: set[tuple[str, int]] = set()
    listed: list[list[Object]] = []
    for export in valid:
        own = [_port(port) for port in _service(export).get("ports") or ()]
        listed.append(sorted(own, key=lambda port: str(port.get("name", ""))))
        for port in own:
            place = (port["protocol"], port["port"])
            if port.get("name", "") not in ports and place not in taken:
                ports[port.get("name", "")] = port
                taken.add(place)
    unlike = any(other != listed[0] for other in listed)
    text = f"the ports are not those of {valid[0].cluster}, the oldest export" if unlike else ""
    return list(ports.values()), text


def _strays(export: Export, agreed: Sequence[Object]) -> frozenset[str]:
    """Return the names of ports that a cluster has, and that are not what was agreed upon under these names."""
    places = {port.get("name", ""): (port["protocol"], port["port"]) for port in agreed}
    own = [_port(port) for port in _service(export).get("ports") or ()]
    names = {port.get("name", ""): (port["protocol"], port["port"]) for port in own}
    return frozenset(name for name, place in names.items() if places.get(name) != place)


def _port(port: Object) -> Object:
    kept = {key: port[key] for key in ("name", "appProtocol", "port") if port.get(key)}
    return {"protocol": port.get("protocol") or "TCP", **kept}


def _exported(valid: Sequence[Export], name: str) -> tuple[dict[str, str], bool]:
    values = [dict((export.export.get("spec") or {}).get(name) or {}) for export in valid]
    return values[0], any(other != values[0] for other in values)


def conditions(export: Export, service: Shared | None, now: str) -> list[Object]:
    """Return the conditions of an export; those that say what they said before keep their times."""
    problem = export.problem
    if problem is not None:
        wanted = [(VALID, "False", *problem), (READY, "False", "Pending", "it is not valid")]
    else:
        assert service is not None
        wanted = [(VALID, "True", "Valid", ""), (READY, "True", "Exported", "it is imported by all clusters")]
        if service.conflicts:
            reasons = ",".join(reason for reason, _ in service.conflicts)
            wanted.append((CONFLICT, "True", reasons, "; ".join(text for _, text in service.conflicts)))
        else:
            wanted.append((CONFLICT, "False", "NoConflicts", ""))
    before = {row["type"]: row for row in (export.export.get("status") or {}).get("conditions") or ()}
    generation = export.export["metadata"].get("generation", 0)
    result: list[Object] = []
    for kind, status, reason, message in wanted:
        old = before.get(kind) or {}
        time = old.get("lastTransitionTime") if old.get("status") == status else None
        result.append({
            "type": kind, "status": status, "reason": reason, "message": message,
            "lastTransitionTime": time or now, "observedGeneration": generation,
        })  # fmt: skip
    others = [row for kind, row in before.items() if kind not in (VALID, READY, CONFLICT)]
    return [*result, *others]
