"""Checks of what a node reports about the containers of a pod."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks

_LISTS = {
    "containerStatuses": "containers",
    "initContainerStatuses": "initContainers",
    "ephemeralContainerStatuses": "",
}
_MAX_UINT32 = 2**32 - 1
_MESSAGE_LIMIT = 1024
_CLAIM_TEXT = (
    "must match one of the container's resource claims as 'claim:<claimName>/<requestName>' when "
    "container.resources.claims[*].request is set or 'claim:<claimName>' when it is empty"
)


def validate_container_statuses(status: Object, spec: Object, path: Path, errors: Errors) -> None:
    """Check the users and the allocated resources that are reported."""
    system = spec.get("os", {}).get("name", "linux")
    for key in _LISTS:
        for index, item in enumerate(status.get(key, ())):
            if "user" in item:
                _user(item["user"], system, (path / key)[index] / "user" / "linux", errors)
    for key, field in _LISTS.items():
        containers = {item.get("name", ""): item for item in reversed(spec.get(field, ()))}
        for index, item in enumerate(status.get(key, ())):
            if not item.get("allocatedResourcesStatus"):
                continue
            here = (path / key)[index] / "allocatedResourcesStatus"
            if not field:
                errors.forbidden(here, "must not be specified in container status")
                continue
            for position, resource in enumerate(item["allocatedResourcesStatus"]):
                container = containers.get(item.get("name", ""))
                if container is not None:
                    _known(resource.get("name", ""), container, status, here[position] / "name", errors)
                _health(resource.get("resources", ()), here[position] / "resources", errors)


def _user(user: Object, system: str, path: Path, errors: Errors) -> None:
    linux = user.get("linux")
    if linux is None:
        return
    if system == "windows":
        errors.forbidden(path, "cannot be set for a windows pod")
    elif system == "linux":
        # A runtime can report any user of the kernel, more than a pod may ask for.
        if not 0 <= linux.get("uid", 0) <= _MAX_UINT32:
            errors.invalid(path / "uid", linux["uid"], checks.within(0, _MAX_UINT32))
        checks.user_id(linux.get("gid", 0), path / "gid", errors)
        for index, group in enumerate(linux.get("supplementalGroups", ())):
            checks.user_id(group, (path / "supplementalGroups")[index], errors)


def _known(name: str, container: Object, status: Object, path: Path, errors: Errors) -> None:
    resources = container.get("resources", {})
    if not name.startswith("claim:"):
        if name not in resources.get("requests", {}):
            errors.invalid(path, name, "must match one of the container's resource requests")
        return
    claims = {
        f"claim:{claim.get('name', '')}" + (f"/{claim['request']}" if claim.get("request") else "")
        for claim in resources.get("claims", ())
    }
    extended = status.get("extendedResourceClaimStatus", {})
    for mapping in extended.get("requestMappings", ()):
        if mapping.get("containerName", "") == container.get("name", ""):
            claims.add(f"claim:{extended.get('resourceClaimName', '')}/{mapping.get('requestName', '')}")
    if name not in claims:
        errors.invalid(path, name, _CLAIM_TEXT)


def _health(resources: list[Object], path: Path, errors: Errors) -> None:
    seen: set[str] = set()
    for index, resource in enumerate(resources):
        here = path[index]
        checks.one_of(
            resource.get("health", ""), ("Healthy", "Unhealthy", "Unknown"), here / "health", errors
        )
        message = resource.get("message")
        if message == "":
            errors.required(here / "message", "must be non-empty if specified")
        elif message and len(message.encode()) > _MESSAGE_LIMIT:
            errors.too_long(here / "message", _MESSAGE_LIMIT)
        identity = resource.get("resourceID", "")
        if identity in seen:
            errors.duplicate(here / "resourceID", identity)
        seen.add(identity)
