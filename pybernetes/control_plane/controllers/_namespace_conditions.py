"""What the status of a namespace says while it is deleted. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Object = dict[str, Any]
DISCOVERY, PARSING, CONTENT, REMAINING, FINALIZERS = (
    "NamespaceDeletionDiscoveryFailure", "NamespaceDeletionGroupVersionParsingFailure",
    "NamespaceDeletionContentFailure", "NamespaceContentRemaining", "NamespaceFinalizersRemaining",
)  # fmt: skip
_WELL = {
    DISCOVERY: ("ResourcesDiscovered", "All resources successfully discovered"),
    PARSING: ("ParsedGroupVersions", "All legacy kube types successfully parsed"),
    CONTENT: ("ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
    REMAINING: ("ContentRemoved", "All content successfully removed"),
    FINALIZERS: ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
}


def problems(
    failures: Mapping[str, str],
    errors: Sequence[str],
    remaining: Mapping[str, int],
    finalizers: Mapping[str, int],
) -> dict[str, tuple[str, str]]:
    """Reason and message by type, of what is not well.

    ``failures`` are groups that could not be asked for their kinds, ``remaining`` counts objects by ``plural.group``,
    ``finalizers`` objects by what they wait for.
    """
    found: dict[str, tuple[str, str]] = {}
    if failures:
        details = ", ".join(f"{name}: {why}" for name, why in sorted(failures.items()))
        text = f"unable to retrieve the complete list of server APIs: {details}"
        found[DISCOVERY] = (
            "DiscoveryFailed",
            f"Discovery failed for some groups, {len(failures)} failing: {text}",
        )
    if errors:
        text = ", ".join(sorted(errors))
        found[CONTENT] = (
            "ContentDeletionFailed",
            f"Failed to delete all resource types, {len(errors)} remaining: {text}",
        )
    if remaining:
        text = ", ".join(
            sorted(f"{name} has {count} resource instances" for name, count in remaining.items())
        )
        found[REMAINING] = ("SomeResourcesRemain", f"Some resources are remaining: {text}")
    if finalizers:
        text = ", ".join(
            sorted(f"{name} in {count} resource instances" for name, count in finalizers.items())
        )
        found[FINALIZERS] = (
            "SomeFinalizersRemain",
            f"Some content in the namespace has finalizers remaining: {text}",
        )
    return found


def conditions(old: Sequence[Object], found: Mapping[str, tuple[str, str]], now: str) -> list[Object]:
    """The conditions that say what is found; those of other types stay, times change with the status only."""
    result = list(old)
    places = {each["type"]: place for place, each in enumerate(result)}
    for type_, well in _WELL.items():
        status = "True" if type_ in found else "False"
        reason, message = found.get(type_, well)
        wanted = {
            "type": type_, "status": status, "lastTransitionTime": now, "reason": reason, "message": message,
        }  # fmt: skip
        if type_ not in places:
            result.append(wanted)
            continue
        before = result[places[type_]]
        if before["status"] == status and before.get("lastTransitionTime"):
            wanted["lastTransitionTime"] = before["lastTransitionTime"]
        result[places[type_]] = wanted
    return result
