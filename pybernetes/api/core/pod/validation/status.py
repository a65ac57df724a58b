"""What a write of a pod's status may say."""

from __future__ import annotations

from pybernetes.api.core.pod.restart_policy import all_could_restart, should_restart
from pybernetes.api.core.pod.validation.annotations import validate_annotations
from pybernetes.api.core.pod.validation.container_status import validate_container_statuses
from pybernetes.api.core.pod.validation.update import validate_annotation_updates
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.api.validation import checks, names
from pybernetes.api.validation.addresses import legacy_ip, parse_sloppy

_STATUS = Path("status")
_OWN_CONDITIONS = ("PodScheduled", "Ready", "Initialized")
_NOT_NEGATIVE = "must be a non-negative integer"


def validate_pod_status(new: Object, old: Object, errors: Errors) -> None:
    """Check a write of the status subresource."""
    validate_annotation_updates(new, old, errors)
    annotations = new["metadata"].get("annotations")
    if annotations:
        validate_annotations(annotations, new.get("spec", {}), Path("metadata") / "annotations", errors)
    spec, status, before = new.get("spec", {}), new.get("status", {}), old.get("status", {})
    _conditions(status.get("conditions", ()), _STATUS / "conditions", errors)
    _nominated(status.get("nominatedNodeName", ""), before, spec, errors)
    if status.get("observedGeneration", 0) < 0:
        errors.invalid(_STATUS / "observedGeneration", status["observedGeneration"], _NOT_NEGATIVE)
    if status.get("qosClass", "") != before.get("qosClass", ""):
        errors.invalid(_STATUS / "qosClass", status.get("qosClass", ""), "field is immutable")
    _transitions(status, before, old.get("spec", {}), errors)
    _claims(status.get("resourceClaimStatuses", ()), spec, errors)
    if "extendedResourceClaimStatus" in status:
        path = _STATUS / "extendedResourceClaimStatus"
        _extended_claim(status["extendedResourceClaimStatus"], spec, path, errors)
    _pod_addresses(status, before, errors)
    _host_addresses(status, before, errors)
    validate_container_statuses(status, spec, _STATUS, errors)


def _conditions(conditions: list[Object], path: Path, errors: Errors) -> None:
    for index, condition in enumerate(conditions):
        generation, kind = condition.get("observedGeneration", 0), condition.get("type", "")
        if generation < 0:
            errors.invalid(path[index] / "observedGeneration", generation, _NOT_NEGATIVE)
        if kind not in _OWN_CONDITIONS:
            checks.name(names.qualified_name, kind, path[index] / "Type", errors)


def _nominated(node: str, before: Object, spec: Object, errors: Errors) -> None:
    if not node or node == before.get("nominatedNodeName", ""):
        return
    path = _STATUS / "nominatedNodeName"
    checks.name(names.dns_subdomain, node, path, errors)
    if spec.get("nodeName"):
        errors.forbidden(path, "may not be set on pods that are already bound to a node")


def _transitions(status: Object, before: Object, spec: Object, errors: Errors) -> None:
    """Check that a container that ended for good stays so."""
    fields = {
        "containerStatuses": spec.get("containers", ()),
        "initContainerStatuses": spec.get("initContainers", ()),
        "ephemeralContainerStatuses": (),
    }
    free = all_could_restart(spec)
    for key, containers in fields.items():
        if free and key != "ephemeralContainerStatuses":
            continue
        known = {container.get("name", ""): container for container in reversed(containers)}
        for index, previous in enumerate(before.get(key, ())):
            ended = previous.get("state", {}).get("terminated")
            name = previous.get("name", "")
            now = next((item for item in status.get(key, ()) if item.get("name", "") == name), None)
            if ended is None or now is None or "terminated" in now.get("state", {}):
                continue
            code = ended.get("exitCode", 0)
            if name not in known or not should_restart(known[name], spec.get("restartPolicy", ""), code):
                text = "may not be transitioned to non-terminated state"
                errors.forbidden((_STATUS / key)[index] / "state", text)


def _claims(statuses: list[Object], spec: Object, errors: Errors) -> None:
    known = {claim.get("name", "") for claim in spec.get("resourceClaims", ())}
    seen: set[str] = set()
    for index, status in enumerate(statuses):
        here = (_STATUS / "resourceClaimStatuses")[index]
        name = status.get("name", "")
        if name not in known:
            text = "must match the name of an entry in `spec.resourceClaims`"
            errors.invalid(here / "name", name, text)
        if name in seen:
            errors.duplicate(here / "name", name)
        seen.add(name)
        if "resourceClaimName" in status:
            claim = status["resourceClaimName"]
            checks.name(names.dns_subdomain, claim, here / "resourceClaimName", errors)


def _extended_claim(status: Object, spec: Object, path: Path, errors: Errors) -> None:
    containers = {
        container.get("name", ""): container
        for key in ("initContainers", "containers")
        for container in spec.get(key, ())
    }
    mappings = status.get("requestMappings", ())
    if not mappings:
        errors.required(path / "requestMappings", "at least one request mapping is required")
    seen: set[tuple[str, ...]] = set()
    for index, mapping in enumerate(mappings):
        here = (path / "requestMappings")[index]
        keys = ("containerName", "resourceName", "requestName")
        container, resource, request = entry = tuple(mapping.get(key, "") for key in keys)
        if container not in containers:
            text = "must match the name of an entry in spec.initContainers.name or spec.containers.name"
            errors.invalid(here / "containerName", container, text)
        elif resource not in containers[container].get("resources", {}).get("requests", {}):
            text = (
                "must match the extended resource name of an entry in spec.initContainers.resources.requests "
                "or spec.containers.resources.requests"
            )
            errors.invalid(here / "resourceName", resource, text)
        checks.name(names.dns_label, request, path / "requestName", errors)
        if entry in seen:
            for key, value in zip(keys, entry, strict=True):
                errors.duplicate(here / key, value)
        seen.add(entry)
    checks.required_name(
        names.dns_subdomain, status.get("resourceClaimName", ""), path / "resourceClaimName", errors
    )


def _addresses(listed: list[Object], before: list[Object], path: Path, errors: Errors) -> None:
    kept = [item.get("ip", "") for item in before]
    for index, item in enumerate(listed):
        legacy_ip(item.get("ip", ""), path[index], errors, kept)


def _shown(listed: list[Object]) -> list[go_format.Struct]:
    """Return the addresses as Go holds them."""
    return [go_format.Struct(IP=item.get("ip", "")) for item in listed]


def _families(listed: list[Object], path: Path, errors: Errors) -> None:
    if len(listed) < 2:
        return
    parsed = [parse_sloppy(item.get("ip", "")) for item in listed]
    if None in parsed:
        bad = listed[parsed.index(None)].get("ip", "")
        index = parsed.index(None)
        text = f"failed to check for dual stack with error:invalid IP[{index}]: {bad}"
        errors.internal(path, text)
    versions = {address.version for address in parsed if address is not None}
    if None in parsed or len(versions) < 2 or len(listed) > 2:
        text = "may specify no more than one IP for each IP family"
        errors.invalid(path, _shown(listed), text)


def _pod_addresses(status: Object, before: Object, errors: Errors) -> None:
    listed = status.get("podIPs", [])
    if listed:
        if not status.get("podIP"):
            text = "podIP and podIPs must either both be set or both be unset"
            errors.invalid(_STATUS / "podIPs", _shown(listed), text)
        _addresses(listed, before.get("podIPs", []), _STATUS / "podIPs", errors)
        _families(listed, _STATUS / "podIPs", errors)


def _host_addresses(status: Object, before: Object, errors: Errors) -> None:
    listed = status.get("hostIPs", [])
    if not listed:
        return
    path = _STATUS / "hostIPs"
    first = listed[0].get("ip", "")
    if status.get("hostIP", "") != first:
        errors.invalid(path[0] / "ip", first, "must be equal to `hostIP`")
    _addresses(listed, before.get("hostIPs", []), path, errors)
    _families(listed, path, errors)
