"""Pods that are there already, when the policy of their namespace changes or they themselves do."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from pybernetes.api.core.pod.security_standards.evaluate import evaluate, reasons
from pybernetes.api.core.pod.security_standards.policy import PREFIX, PRIVILEGED, Policy, Standard
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format

# So many pods are looked at; a warning says when there are more.
_MOST = 3000


def changes_images(new: Object, old: Object) -> bool:
    """Return whether an update is one that could make a pod violate something: images or ephemeral containers."""
    after, before = new.get("spec", {}), old.get("spec", {})
    for key in ("containers", "initContainers"):
        images, old_images = (
            [container.get("image") for container in spec.get(key) or ()] for spec in (after, before)
        )
        if images != old_images:
            return True
    known = {
        container.get("name"): container.get("image") for container in before.get("ephemeralContainers") or ()
    }
    return any(
        container.get("name") not in known or known[container.get("name")] != container.get("image")
        for container in after.get("ephemeralContainers") or ()
    )


def _controller(pod: Object) -> Any:
    for owner in pod["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            return owner.get("uid")
    return None


def _by_importance(pods: Iterable[Object], exempt: Collection[str]) -> Iterator[Object]:
    """Put one pod of each controller first: its others are most likely the same."""
    seen: set[str] = set()
    later: list[Object] = []
    for pod in pods:
        if pod["spec"].get("runtimeClassName") in exempt:
            continue
        controller = _controller(pod)
        if controller is not None and controller in seen:
            later.append(pod)
            continue
        if controller is not None:
            seen.add(controller)
        yield pod
    yield from later


def warnings(
    namespace: str, pods: Iterable[Object], enforce: Standard, exempt: Collection[str] = ()
) -> list[str]:
    """Return which pods a stricter policy would not let in again."""
    chosen = list(_by_importance(pods, exempt))
    violators: dict[str, list[str]] = {}
    for pod in chosen[:_MOST]:
        violations = evaluate(enforce, pod["metadata"], pod["spec"])
        if violations:
            violators.setdefault(reasons(violations), []).append(pod["metadata"]["name"])
    texts = []
    if len(chosen) > _MOST:
        texts.append(
            f"new PodSecurity enforce level only checked against the first {_MOST} of {len(chosen)} existing pods"
        )
    if violators:
        level = go_format.quote(str(enforce))
        texts.append(
            f"existing pods in namespace {go_format.quote(namespace)} violate the new PodSecurity enforce level {level}"
        )
    return texts + sorted(f"{_names(names)}: {why}" for why, names in violators.items())


def _names(names: list[str]) -> str:
    others = len(names) - 1
    if not others:
        return names[0]
    return f"{min(names)} (and {others} other pod{'s' if others > 1 else ''})"


def exempt_warning(name: str, policy: Policy, defaults: Policy, namespace: Object) -> str:
    """Return what to tell who sets a policy where none holds, or nothing."""
    if policy.privileged or policy.equivalent(defaults):
        return ""
    labels = namespace["metadata"].get("labels") or {}
    told = []
    for mode in ("enforce", "audit", "warn"):
        standard = getattr(policy, mode)
        given = PREFIX + mode in labels or f"{PREFIX}{mode}-version" in labels
        if given and standard.level != PRIVILEGED:
            told.append(f"{mode}={standard}")
    return f"namespace {go_format.quote(name)} is exempt from Pod Security, and the policy ({', '.join(told)}) will be ignored"
