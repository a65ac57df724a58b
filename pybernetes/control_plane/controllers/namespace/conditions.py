"""What the status of a namespace says while it is deleted. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pybernetes.api.resource import Object

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
    """Return reason and message of every problem, by the condition's type.

    ``failures`` are groups that could not be asked for their kinds, ``remaining`` counts objects by ``plural.group``,
    ``finalizers`` objects by what they wait for.
    """
    by_type: dict[str, tuple[str, str]] = {}
    if failures:
        details = ", ".join(f"{name}: {why}" for name, why in sorted(failures.items()))
        text = f"unable to retrieve the complete list of server APIs: {details}"
        by_type[DISCOVERY] = (
            "DiscoveryFailed",
            f"Discovery failed for some groups, {len(failures)} failing: {text}",
        )
    if errors:
        text = ", ".join(sorted(errors))
        by_type[CONTENT] = (
            "ContentDeletionFailed",
            f"Failed to delete all resource types, {len(errors)} remaining: {text}",
        )
    if remaining:
        text = ", ".join(
            sorted(f"{name} has {count} resource instances" for name, count in remaining.items())
        )
        by_type[REMAINING] = ("SomeResourcesRemain", f"Some resources are remaining: {text}")
    if finalizers:
        text = ", ".join(
            sorted(f"{name} in {count} resource instances" for name, count in finalizers.items())
        )
        by_type[FINALIZERS] = (
            "SomeFinalizersRemain",
            f"Some content in the namespace has finalizers remaining: {text}",
        )
    return by_type


def conditions(old: Sequence[Object], problems: Mapping[str, tuple[str, str]], now: str) -> list[Object]:
    """Return the conditions with these problems; other types stay, times change with the status only."""
    result = list(old)
    places = {condition["type"]: place for place, condition in enumerate(result)}
    for type_, well in _WELL.items():
        status = "True" if type_ in problems else "False"
        reason, message = problems.get(type_, well)
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
