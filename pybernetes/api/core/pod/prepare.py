"""What writing a pod sets, keeps and clears, for the pod itself and for its subresources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pybernetes.api.core.pod import pod_level_resources
from pybernetes.api.core.pod.qos_class import qos_class
from pybernetes.api.core.pod.validation.annotations import APP_ARMOR, app_armor_profile
from pybernetes.api.current_time import timestamp
from pybernetes.api.metadata import keep
from pybernetes.api.resource import Object

_KEPT_METADATA = ("deletionTimestamp", "generation", "labels", "annotations", "finalizers", "ownerReferences")
_KEPT_STATUS = ("resourceClaimStatuses", "extendedResourceClaimStatus")
_AFFINITIES = ("podAffinity", "podAntiAffinity")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def prepare_create(pod: Object) -> None:
    """Give a new pod its first status and fold label keys into selectors."""
    spec = pod["spec"]
    status: Object = {"phase": "Pending"}
    if spec.get("schedulingGates"):
        status["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "lastProbeTime": None,  # Go writes an unset time here
                "lastTransitionTime": timestamp(),
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
            }
        ]
    labels = pod["metadata"].get("labels", {})
    if "affinity" in spec:
        _fold_affinity(spec["affinity"], labels)
    for constraint in spec.get("topologySpreadConstraints", ()):
        _fold(constraint, labels)
    app_armor_fields(pod["metadata"].get("annotations", {}), spec)
    if "resources" in spec:
        pod_level_resources.default_pod_level(spec)
    status["qosClass"] = qos_class(spec)
    pod["status"] = status


def _annotated(annotations: dict[str, str], spec: Object) -> Iterator[tuple[Object, Any]]:
    """Yield containers whose AppArmor profile only an old annotation names, with the profile or None."""
    if (
        not any(key.startswith(APP_ARMOR) for key in annotations)
        or spec.get("os", {}).get("name") == "windows"
    ):
        return
    for key in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(key, ()):
            annotation = annotations.get(APP_ARMOR + container.get("name", ""))
            if annotation is None or container.get("securityContext", {}).get("appArmorProfile") is not None:
                continue
            profile = app_armor_profile(annotation) or {}
            local = profile.get("localhostProfile", "")
            yield container, profile if profile and local.strip() == local else None


def app_armor_warnings(pod: Object) -> list[str]:
    """Warn a client that still uses annotations about AppArmor."""
    annotations = pod["metadata"].get("annotations", {})
    whole = pod["spec"].get("securityContext", {}).get("appArmorProfile")
    return [
        f"metadata.annotations[{APP_ARMOR}{container.get('name', '')}]: deprecated since v1.30; "
        'use the "appArmorProfile" field instead'
        for container, profile in _annotated(annotations, pod["spec"])
        if profile is None or profile != whole
    ]


def app_armor_fields(annotations: dict[str, str], spec: Object) -> None:
    """Turn old annotations about AppArmor into the fields that replaced them."""
    whole = spec.get("securityContext", {}).get("appArmorProfile")
    for container, profile in _annotated(annotations, spec):
        if profile is not None and profile != whole:
            container.setdefault("securityContext", {})["appArmorProfile"] = profile


def _fold_affinity(affinity: Object, labels: dict[str, str]) -> None:
    for key in _AFFINITIES:
        terms = affinity.get(key, {})
        for weighted in terms.get(_PREFERRED, ()):
            _fold(weighted.get("podAffinityTerm", {}), labels)
        for term in terms.get(_REQUIRED, ()):
            _fold(term, labels)


def _fold(term: Object, labels: dict[str, str]) -> None:
    """Add the pod's own values of the named labels to the selector of a term; no selector matches nothing."""
    selector = term.get("labelSelector")
    if selector is None:
        return
    for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
        for key in term.get(field, ()):
            if key in labels:
                requirement = {"key": key, "operator": operator, "values": [labels[key]]}
                selector.setdefault("matchExpressions", []).append(requirement)


def prepare_update(new: Object, old: Object) -> None:
    """Keep the resources of the pod as a whole when a client that does not know them left them out."""
    resources = old.get("spec", {}).get("resources")
    if resources is not None and "resources" not in new["spec"]:
        new["spec"]["resources"] = resources


def prepare_status_update(new: Object, old: Object) -> None:
    """Keep what a status write may not touch or may not forget.

    Labels and annotations may change with the status of a pod; owners may not.
    """
    keep(new["metadata"], old["metadata"], "ownerReferences")
    before = old.get("status", {})
    status = new.setdefault("status", {})
    if not status.get("qosClass"):
        keep(status, before, "qosClass")
    for key in _KEPT_STATUS:
        if key not in status and key in before:
            status[key] = before[key]
    _keep_observed_generation(status, before)
    _drop_disabled(status)


def _keep_observed_generation(status: Object, before: Object) -> None:
    if not status.get("observedGeneration") and before.get("observedGeneration"):
        status["observedGeneration"] = before["observedGeneration"]
    known: dict[str, list[int]] = {}
    for condition in before.get("conditions", ()):
        known.setdefault(condition.get("type", ""), []).append(condition.get("observedGeneration", 0))
    for condition in status.get("conditions", ()):
        generations = known.get(condition.get("type", ""))
        generation = generations.pop(0) if generations else 0
        if generation and not condition.get("observedGeneration"):
            condition["observedGeneration"] = generation


def _drop_disabled(status: Object) -> None:
    """Drop the fields of features that are off."""
    status.pop("nodeAllocatableResourceClaimStatuses", None)
    status.pop("volumeHealth", None)
    for key in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"):
        for container in status.get(key, ()):
            for mount in container.get("volumeMounts", ()):
                mount.pop("volumeStatus", None)


def _reset_metadata(new: Object, old: Object) -> None:
    keep(new["metadata"], old["metadata"], *_KEPT_METADATA)


def _count_generation(new: Object, old: Object) -> None:
    if new["spec"] != old.get("spec"):
        new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


def prepare_ephemeral_containers(new: Object, old: Object) -> None:
    """Reduce a write of ``ephemeralcontainers`` to the list of ephemeral containers."""
    spec = dict(old.get("spec", {}))
    keep(spec, new.get("spec", {}), "ephemeralContainers")
    new["spec"] = spec
    keep(new, old, "status")
    _reset_metadata(new, old)
    _count_generation(new, old)


def prepare_resize(new: Object, old: Object) -> None:
    """Reduce a write of ``resize`` to the resources and resize policies of the same containers."""
    after, before = new.setdefault("spec", {}), old.get("spec", {})
    same = all(
        len(after.get(key, ())) == len(before.get(key, ())) for key in ("containers", "initContainers")
    )
    if same:  # otherwise validation says what is wrong with the containers
        spec = dict(before)
        keep(spec, after, "resources")
        for key in ("containers", "initContainers"):
            if key in after:
                spec[key] = _only_resources(after[key], before.get(key, []))
        new["spec"] = spec
        keep(new, old, "status")
        _reset_metadata(new, old)
    prepare_update(new, old)
    if "resources" in new["spec"]:
        new["spec"]["resources"] = {key: dict(value) if type(value) is dict else value
                                    for key, value in new["spec"]["resources"].items()}  # fmt: skip
        pod_level_resources.default_pod_level(new["spec"])
    _count_generation(new, old)


def _only_resources(after: list[Object], before: list[Object]) -> list[Object]:
    merged = []
    for container, old in zip(after, before, strict=True):
        if container.get("name") != old.get("name"):
            return after
        copy = dict(old)
        keep(copy, container, "resources", "resizePolicy")
        merged.append(copy)
    return merged
