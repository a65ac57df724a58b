"""Which IP families a service has: from its policy, its addresses and what the cluster is set up for."""

from __future__ import annotations

from typing import Any

from pybernetes.api import errors
from pybernetes.api.core.service.cluster_ips import (
    FAMILIES,
    NONE,
    SINGLE_STACK,
    family_of,
    validate_cluster_ips,
)
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object

Fields = dict[str, Any]
_SPEC = Path("spec")
_IPS, _FAMILIES, _POLICY = _SPEC / "clusterIPs", _SPEC / "ipFamilies", _SPEC / "ipFamilyPolicy"


def keeps_preferred(spec: Fields, old: Fields | None) -> bool:
    """Return whether nothing about families changes in a service that prefers two: the cluster may have changed since."""
    if old is None or spec.get("type") == "ExternalName" or spec.get("type") != old.get("type"):
        return False
    if {spec.get("ipFamilyPolicy"), old.get("ipFamilyPolicy", "PreferDualStack")} != {"PreferDualStack"}:
        return False
    return all(spec.get(key, []) == old.get(key, []) for key in ("clusterIPs", "ipFamilies"))


def choose_families(obj: Object, old: Object | None, configured: tuple[str, ...]) -> None:
    """Complete policy and families in place; a 422 error tells what does not fit this cluster."""
    spec = obj.get("spec", {})
    before = old.get("spec", {}) if old is not None else None
    if spec.get("type") == "ExternalName" or keeps_preferred(spec, before):
        return
    selectorless = spec.get("clusterIP") == NONE and not spec.get("selector")
    if "ipFamilyPolicy" not in spec:
        kept = (before or {}).get("ipFamilyPolicy")
        spec["ipFamilyPolicy"] = kept or ("RequireDualStack" if selectorless else SINGLE_STACK)
    problems = Errors()
    validate_cluster_ips(spec, before, problems)
    _refuse(obj, problems)
    if before is not None:
        _release_second(spec, before, problems)
    _check_policy(spec, problems)
    _infer(spec, configured, problems)
    _refuse(obj, problems)
    policy, families = spec["ipFamilyPolicy"], spec.setdefault("ipFamilies", [])
    if selectorless:
        # Any families will do: there are no pods to find.
        if not families:
            families.append(configured[0])
        if len(families) < 2 and policy != SINGLE_STACK:
            families.append(_other(families[0]))
        return
    if policy == "RequireDualStack" and len(configured) < 2:
        problems.invalid(_POLICY, policy, "this cluster is not configured for dual-stack services")
    for index, family in enumerate(families):
        if family not in configured:
            problems.invalid(_FAMILIES[index], family, "not configured on this cluster")
    _refuse(obj, problems)
    if not families:
        families.append(configured[0])
    if policy != SINGLE_STACK and len(families) == 1 and len(configured) == 2:
        families.append(_other(families[0]))


def _other(family: str) -> str:
    return FAMILIES[1] if family == FAMILIES[0] else FAMILIES[0]


def _release_second(spec: Fields, old: Fields, problems: Errors) -> None:
    """Release the second address if SingleStack is asked for; refuse to do so silently."""
    words = (("clusterIPs", "cluster IP"), ("ipFamilies", "IP family"))
    for key, noun in words:
        after, before = spec.get(key, []), old.get(key, [])
        if spec["ipFamilyPolicy"] == SINGLE_STACK:
            if after == before and len(after) > 1:
                spec[key] = after[:1]
        elif after and len(after) < len(before):
            text = f"must be 'SingleStack' to release the secondary {noun}"
            problems.invalid(_POLICY, spec["ipFamilyPolicy"], text)


def _check_policy(spec: Fields, problems: Errors) -> None:
    if spec["ipFamilyPolicy"] != SINGLE_STACK:
        return
    for key, noun in (("clusterIPs", "cluster IPs"), ("ipFamilies", "IP families")):
        if len(spec.get(key, ())) == 2:
            text = f"must be 'RequireDualStack' or 'PreferDualStack' when multiple {noun} are specified"
            problems.invalid(_POLICY, spec["ipFamilyPolicy"], text)


def _infer(spec: Fields, configured: tuple[str, ...], problems: Errors) -> None:
    """Take the families from the addresses that the client chose."""
    families = spec.setdefault("ipFamilies", [])
    for index, ip in enumerate(spec.get("clusterIPs", ())):
        if ip == NONE:
            break
        if index < len(families):
            continue
        family = family_of(ip)
        if family in configured:
            families.append(family)
        else:
            problems.invalid(_IPS[index], spec["clusterIPs"], f"{family} is not configured on this cluster")


def _refuse(obj: Object, problems: Errors) -> None:
    if problems:
        raise errors.invalid("", "Service", obj["metadata"].get("name", ""), problems)
