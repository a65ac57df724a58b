"""Tolerations compared and merged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pybernetes.api.resource import Object


def covers(wider: Object, toleration: Object) -> bool:
    """Return whether all that one tolerates, the wider one tolerates too."""
    if wider == toleration:
        return True
    operator = wider.get("operator") or "Equal"
    if toleration.get("key", "") != wider.get("key", "") and (wider.get("key") or operator != "Exists"):
        return False
    effect = wider.get("effect", "")
    if effect and toleration.get("effect", "") != effect:
        return False
    seconds = wider.get("tolerationSeconds")
    if effect == "NoExecute" and seconds is not None:
        its_seconds = toleration.get("tolerationSeconds")
        if its_seconds is None or its_seconds > seconds:
            return False
    if operator == "Exists":
        return True
    return (
        operator == "Equal"
        and toleration.get("operator") == "Equal"
        and toleration.get("value", "") == wider.get("value", "")
    )


def merge(first: Sequence[Object], second: Sequence[Object]) -> list[Object]:
    """Return both sets as one, without those that another one covers."""
    everything = [*first, *second]
    merged: list[Object] = []
    for position, toleration in enumerate(everything):
        if any(covers(kept, toleration) for kept in merged):
            continue
        following = everything[position + 1 :]
        if any(other != toleration and covers(other, toleration) for other in following):
            continue
        merged.append(toleration)
    return merged


def allowed(given: Iterable[Object], permitted: Sequence[Object]) -> bool:
    """Return whether each toleration is covered by one of those that are permitted; without any, all are."""
    return not permitted or all(any(covers(wider, toleration) for wider in permitted) for toleration in given)


def put(tolerations: list[Object], wanted: Object) -> list[Object]:
    """Return the tolerations with one more, which takes the place of those that differ in their seconds alone."""
    keys = ("key", "effect", "operator", "value")

    def same(other: Object) -> bool:
        return all(wanted.get(key, "") == other.get(key, "") for key in keys)

    if any(same(toleration) for toleration in tolerations):
        return [wanted if same(toleration) else toleration for toleration in tolerations]
    return [*tolerations, wanted]


def tolerate_for_a_while(spec: Object, seconds: Mapping[str, int]) -> None:
    """Let a pod stay for some seconds on nodes with taints (by key) that end pods, unless it says itself for how long."""
    tolerations = list(spec.get("tolerations") or ())
    tolerated = {
        toleration.get("key", "")
        for toleration in tolerations
        if toleration.get("effect", "") in ("", "NoExecute")
    }
    if "" in tolerated:
        return
    spec["tolerations"] = tolerations + [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": count}
        for key, count in seconds.items()
        if key not in tolerated
    ]
