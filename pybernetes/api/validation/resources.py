"""Names of resources such as ``cpu`` and ``example.com/gpu``, and the quantities that they may have."""

from __future__ import annotations

from pybernetes.api import quantity
from pybernetes.api.field import Errors, Path
from pybernetes.api.validation import names, numbers
from pybernetes.lib.memory.bounded_cache import bounded_cache

_COMPUTE = ("cpu", "memory", "ephemeral-storage")
STANDARD_CONTAINER = frozenset(_COMPUTE)
_COUNTED = frozenset({
    "pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps",
    "persistentvolumeclaims", "services.nodeports", "services.loadbalancers",
})  # fmt: skip
STANDARD_QUOTA = (
    STANDARD_CONTAINER
    | _COUNTED
    | {f"{prefix}.{name}" for prefix in ("requests", "limits") for name in _COMPUTE}
    | {"requests.storage"}
)
_STANDARD = STANDARD_QUOTA | {"storage"}
NOT_INTEGER = "must be an integer"


def is_huge_page(name: str) -> bool:
    """Return whether the resource is huge pages of some size."""
    return name.startswith("hugepages-")


def _is_quota_huge_page(name: str) -> bool:
    return name.startswith(("hugepages-", "requests.hugepages-"))


def is_native(name: str) -> bool:
    """Return whether the resource is Kubernetes' own; a name without a prefix is."""
    return "/" not in name or "kubernetes.io/" in name


@bounded_cache()
def is_extended(name: str) -> bool:
    """Return whether the resource is one that a device plugin or an operator brings."""
    if is_native(name) or name.startswith("requests."):
        return False
    return not names.qualified_name(f"requests.{name}")


def is_overcommit_allowed(name: str) -> bool:
    """Return whether limits may be above requests."""
    return is_native(name) and not is_huge_page(name)


def is_standard_quota(name: str) -> bool:
    """Return whether quotas know the resource by a plain name."""
    return name in STANDARD_QUOTA or _is_quota_huge_page(name)


def is_integer(name: str) -> bool:
    """Return whether the resource is counted in whole units."""
    return name in _COUNTED or is_extended(name)


@bounded_cache()
def _name(name: str) -> tuple[str, ...]:
    problems = names.qualified_name(name)
    if not problems and "/" not in name and name not in _STANDARD and not _is_quota_huge_page(name):
        problems = ["must be a standard resource type or fully qualified"]
    return tuple(problems)


@bounded_cache()
def _container_name(name: str) -> tuple[str, ...]:
    problems = _name(name)
    if "/" not in name:
        if name not in STANDARD_CONTAINER and not is_huge_page(name):
            problems += ("must be a standard resource for containers",)
    elif not is_native(name) and not is_extended(name):
        problems += ("doesn't follow extended resource name standard",)
    return problems


def resource_name(name: str, path: Path, errors: Errors) -> None:
    """Check the name of any resource."""
    for problem in _name(name):
        errors.invalid(path, name, problem)


def container_resource_name(name: str, path: Path, errors: Errors) -> None:
    """Check the name of a resource that a container may request."""
    for problem in _container_name(name):
        errors.invalid(path, name, problem)


def quota_resource_name(name: str, path: Path, errors: Errors) -> None:
    """Check the name of a resource that a quota may limit."""
    resource_name(name, path, errors)
    if "/" not in name and not is_standard_quota(name):
        errors.invalid(path, name, "must be a standard resource for quota")


def nonnegative_quantity(value: str, path: Path, errors: Errors) -> None:
    """Check that a quantity is zero or more."""
    if quantity.parse(value) < 0:
        errors.invalid(path, value, numbers.NEGATIVE)


def quantity_value(name: str, value: str, path: Path, errors: Errors) -> None:
    """Check the quantity of a resource: not negative, and whole where the resource is counted."""
    nonnegative_quantity(value, path, errors)
    if is_integer(name) and quantity.milli(value) % 1000:
        errors.invalid(path, value, NOT_INTEGER)
