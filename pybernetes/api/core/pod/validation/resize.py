"""What a write of a pod's ``resize`` may change: CPU and memory, of containers and of the pod as a whole."""

from __future__ import annotations

from typing import Any

from pybernetes.api.core.pod import pod_level_resources
from pybernetes.api.core.pod.qos_class import qos_class
from pybernetes.api.core.pod.validation.annotations import MIRROR
from pybernetes.api.core.pod.validation.pod import validate_pod
from pybernetes.api.core.pod.validation.update import same
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object

_SPEC = Path("spec")
_RESIZABLE = ("cpu", "memory")


def validate_resize(new: Object, old: Object, errors: Errors) -> None:
    """Check a write of ``resize``."""
    after, before = new.get("spec", {}), old.get("spec", {})
    if MIRROR in old["metadata"].get("annotations", ()):
        errors.forbidden(Path(), "static pods cannot be resized")
        return
    if before.get("os", {}).get("name") == "windows":
        errors.forbidden(Path(), "windows pods cannot be resized")
        return
    validate_pod(new, errors)
    quality = old.get("status", {}).get("qosClass") or qos_class(before)
    if quality != qos_class(after):
        text = "Pod QOS Class may not change as a result of resizing"
        errors.invalid(_SPEC, new.get("status", {}).get("qosClass", ""), text)
    if not _node_can_resize(old):
        errors.forbidden(_SPEC, "Pod running on node without support for resize")
    munged = dict(after)
    if _any_amount(before) or _any_amount(after):
        _pod_level(munged, before, errors)
    if not _same_order(after, before, errors):
        return
    for key in ("initContainers", "containers"):
        for index, (container, previous) in enumerate(_pairs(after, before, key)):
            _nothing_removed(container, previous, (_SPEC / key)[index] / "resources", errors)
    for key in ("containers", "initContainers"):
        if key in after:
            munged[key] = _only_cpu_and_memory(after, before, key, errors)
    if not same(after.get("volumes"), before.get("volumes")):
        text = "volumes are immutable on resize when InPlacePodVerticalScalingMemoryBackedVolumes feature gate is disabled"
        errors.forbidden(_SPEC / "volumes", text)
    if not errors and not same(munged, before):
        errors.forbidden(_SPEC, "only cpu and memory resources are mutable")


def _pairs(after: Object, before: Object, key: str) -> Any:
    return zip(after.get(key, ()), before.get(key, ()), strict=True)


def _node_can_resize(pod: Object) -> bool:
    """Return whether the node can resize: one that can reports the resources of what it runs."""
    for status in pod.get("status", {}).get("containerStatuses", ()):
        if "running" in status.get("state", {}):
            return "resources" in status
    return True


def _any_amount(spec: Object) -> bool:
    resources = spec.get("resources", {})
    return bool(resources.get("requests") or resources.get("limits"))


def _removed(after: Object, before: Object, kind: str) -> bool:
    return any(name not in after.get(kind, {}) for name in before.get(kind, {}))


def _pod_level(munged: Object, before: Object, errors: Errors) -> None:
    path = _SPEC / "resources"
    after, previous = munged.get("resources"), before.get("resources")
    if after is None:
        if previous is not None:
            errors.forbidden(path, "pod-level resources cannot be removed")
        return
    for kind in ("requests", "limits"):
        if _removed(after, previous or {}, kind):
            errors.forbidden(path / kind, f"pod-level resource {kind} cannot be removed")
    masked = _masked(after, previous or {})
    if previous is None and not any(masked.values()):
        munged.pop("resources")
        return
    munged["resources"] = masked
    if not same({"resources": masked}, {"resources": previous or {}}):
        errors.forbidden(_SPEC, "only cpu and memory resources are mutable at pod-level")


def _masked(after: Object, before: Object) -> Object:
    """Return the new resources with CPU and memory set back to what they were."""
    result = {key: value for key, value in after.items() if key == "claims"}
    for kind in ("limits", "requests"):
        amounts = {name: text for name, text in after.get(kind, {}).items() if name not in _RESIZABLE}
        amounts |= {name: text for name, text in before.get(kind, {}).items() if name in _RESIZABLE}
        if amounts:
            result[kind] = amounts
    return result


def _same_order(after: Object, before: Object, errors: Errors) -> bool:
    count = len(errors)
    for key in ("containers", "initContainers"):
        if len(after.get(key, ())) != len(before.get(key, ())):
            errors.forbidden(_SPEC / key, f"{key} may not be added or removed on resize")
            continue
        for index, (container, previous) in enumerate(_pairs(after, before, key)):
            if container.get("name") != previous.get("name"):
                text = f"{key} may not be renamed or reordered on resize"
                errors.forbidden((_SPEC / key)[index] / "name", text)
    return len(errors) == count


def _nothing_removed(container: Object, previous: Object, path: Path, errors: Errors) -> None:
    for kind in ("requests", "limits"):
        if _removed(container.get("resources", {}), previous.get("resources", {}), kind):
            errors.forbidden(path / kind, f"resource {kind} cannot be removed")


def _only_cpu_and_memory(after: Object, before: Object, key: str, errors: Errors) -> list[Object]:
    result = []
    for index, (container, previous) in enumerate(_pairs(after, before, key)):
        here = (_SPEC / key)[index]
        masked = {
            **container,
            "resources": _masked(container.get("resources", {}), previous.get("resources", {})),
        }
        if not same(masked, {**previous, "resources": previous.get("resources", {})}):
            if key == "containers":
                errors.forbidden(_SPEC, "only cpu and memory resources are mutable")
            else:
                text = "only cpu and memory resources for init or sidecar containers are mutable"
                errors.forbidden(here, text)
        if (
            key == "initContainers"
            and not pod_level_resources.is_restartable(container)
            and container != previous
        ):
            for policy in container.get("resizePolicy", ()):
                if policy.get("restartPolicy") == "RestartContainer":
                    text = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"
                    errors.forbidden(here, text)
        result.append(
            masked
            if "resources" in previous
            else {name: value for name, value in masked.items() if name != "resources"}
        )
    return result
