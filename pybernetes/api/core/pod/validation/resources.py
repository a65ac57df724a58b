"""Checks of what containers, and the pod as a whole, request and may use."""

from __future__ import annotations

from collections.abc import Callable, Collection

from pybernetes.api import quantity
from pybernetes.api.core.pod import pod_level_resources
from pybernetes.api.core.pod.validation.go_structs import show
from pybernetes.api.field import Errors, FieldError, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks, names
from pybernetes.api.validation import resources as rules
from pybernetes.lib.memory.bounded_cache import bounded_cache

_POD_LEVEL = ("cpu", "hugepages-", "memory")


def validate_requirements(
    requirements: Object,
    claims: Collection[str],
    path: Path,
    errors: Errors,
    check_name: Callable[[str, Path, Errors], None] = rules.container_resource_name,
) -> None:
    """Check limits, requests and claims; ``claims`` are the names that the pod has."""
    limits, requests = requirements.get("limits", {}), requirements.get("requests", {})
    huge = False
    for name, amount in limits.items():
        if not _is_plain(name, amount):
            huge |= _amount(name, amount, path / "limits", errors, check_name)
    for name, amount in requests.items():
        if _is_plain(name, amount):
            if name not in limits:
                continue
        else:
            huge |= _amount(name, amount, path / "requests", errors, check_name)
        _against_limit(name, amount, limits.get(name), path, errors)
    if huge and not any(name in amounts for amounts in (limits, requests) for name in ("cpu", "memory")):
        errors.forbidden(path, "HugePages require cpu or memory")
    if "claims" in requirements:
        _claims(requirements["claims"], claims, path / "claims", errors)


@bounded_cache()
def _is_plain(name: str, amount: str) -> bool:
    """Return whether this is an amount of CPU or memory that is fine by itself, as nearly all are."""
    return name in ("cpu", "memory") and quantity.parse(amount) >= 0


def _amount(
    name: str, amount: str, path: Path, errors: Errors, check_name: Callable[[str, Path, Errors], None]
) -> bool:
    """Check one quantity and return whether it is of huge pages."""
    here = path[name]
    check_name(name, here, errors)
    rules.quantity_value(name, amount, here, errors)
    if not rules.is_huge_page(name):
        return False
    problem = _huge_page_problem(name, amount)
    if problem:
        errors.invalid(here, amount, problem)
    return True


@bounded_cache()
def _huge_page_problem(name: str, amount: str) -> str:
    text = f"{amount} is not positive integer multiple of {name}"
    try:
        size = quantity.parse(name.removeprefix("hugepages-"))
    except quantity.QuantityError:
        return text
    if size <= 0 or size.denominator != 1 or quantity.integer(amount) % size:
        return text
    return ""


def _against_limit(name: str, amount: str, limit: str | None, path: Path, errors: Errors) -> None:
    overcommit = rules.is_overcommit_allowed(name)
    if limit is None:
        if not overcommit:
            errors.required(path / "limits", "Limit must be set for non overcommitable resources")
        return
    if limit == amount:
        return
    wanted, allowed = quantity.parse(amount), quantity.parse(limit)
    if wanted != allowed and not overcommit:
        errors.invalid(path / "requests", amount, f"must be equal to {name} limit of {limit}")
    elif wanted > allowed:
        errors.invalid(path / "requests", amount, f"must be less than or equal to {name} limit of {limit}")


def _claims(claims: list[Object], known: Collection[str], path: Path, errors: Errors) -> None:
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        name, request = claim.get("name", ""), claim.get("request", "")
        here = path[index]
        if not name:
            errors.required(here)
            continue
        if name in seen:
            errors.duplicate(here, name)
        else:
            key = f"{name}/{request}" if request else name
            if request:
                checks.name(names.dns_label, request, here / "request", errors)
            if key in seen:
                errors.duplicate(here, key)
            elif not request:
                for other in seen:
                    if other.partition("/")[0] == name:
                        errors.duplicate(here, name)
            seen.add(key)
        if name not in known:
            detail = "must be one of the names in pod.spec.resourceClaims"
            detail += f": {', '.join(sorted(known))}" if known else " which is empty"
            errors.append(FieldError("Not found", "FieldValueNotFound", str(here), name, detail))


def _pod_level_name(name: str, path: Path, errors: Errors) -> None:
    before = len(errors)
    rules.resource_name(name, path, errors)
    if len(errors) == before and not pod_level_resources.supported_at_pod_level(name):
        errors.unsupported(path, name, _POD_LEVEL)


def validate_pod_resources(spec: Object, claims: Collection[str], path: Path, errors: Errors) -> None:
    """Check the resources of the pod as a whole, also against those of its containers."""
    resources = spec["resources"]
    if spec.get("os", {}).get("name") == "windows":
        errors.forbidden(path, "may not be set for a windows pod")
        return
    if "claims" in resources:
        errors.forbidden(path / "claims", "claims may not be set for Resources at pod-level")
    validate_requirements(resources, claims, path, errors, _pod_level_name)
    requests, limits = resources.get("requests", {}), resources.get("limits", {})
    for name, amount in pod_level_resources.aggregate(spec, "requests").items():
        if name in requests and amount > quantity.parse(requests[name]):
            shown = pod_level_resources.as_text(spec, "requests", name, amount)
            text = f"must be greater than or equal to aggregate container requests of {shown}"
            errors.invalid((path / "requests")[name], requests[name], text)
    for name, amount in pod_level_resources.aggregate(spec, "limits").items():
        if rules.is_huge_page(name) and name in limits and amount > quantity.parse(limits[name]):
            shown = pod_level_resources.as_text(spec, "limits", name, amount)
            text = f"must be greater than or equal to aggregate container limits of {shown}"
            errors.invalid((path / "limits")[name], limits[name], text)
    for index, container in enumerate(spec.get("containers", ())):
        for name, text in container.get("resources", {}).get("limits", {}).items():
            if name in limits and quantity.parse(text) > quantity.parse(limits[name]):
                here = (path / "containers")[index][name] / "limits"
                errors.invalid(here, text, f"must be less than or equal to pod limits of {limits[name]}")


def validate_pod_claims(claims: list[Object], metadata: Object | None, path: Path, errors: Errors) -> None:
    """Check the resource claims that a pod names."""
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        here = path[index]
        if metadata and "kubernetes.io/config.mirror" in metadata.get("annotations", ()):
            errors.forbidden(Path(), "static pods do not support resource claims")
            continue
        name = claim.get("name", "")
        if name in seen:
            errors.duplicate(here / "name", name)
        else:
            checks.required_name(names.dns_label, name, here / "name", errors)
            if name:
                seen.add(name)
        given = [key for key in ("resourceClaimName", "resourceClaimTemplateName") if key in claim]
        if len(given) == 2:
            text = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            errors.invalid(here, show("PodResourceClaim", claim), text)
        elif not given:
            text = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            errors.invalid(here, show("PodResourceClaim", claim), text)
        for key in given:
            checks.name(names.dns_subdomain, claim[key], here / key, errors)
