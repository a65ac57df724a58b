"""What an update of a pod may change: little, since most of a pod is fixed once it runs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from pybernetes.api import quantity
from pybernetes.api.core.pod.validation.annotations import APP_ARMOR, MIRROR
from pybernetes.api.core.pod.validation.go_structs import difference, show
from pybernetes.api.core.pod.validation.pod import validate_pod
from pybernetes.api.field import Errors, Path
from pybernetes.api.metadata import keep
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.api.validation import checks

_SPEC = Path("spec")
_ANNOTATIONS = Path("metadata") / "annotations"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_UPDATABLE = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_MAX_INT32 = 2**31 - 1
# Where absent and zero mean the same.
_PLAIN_ZERO = frozenset({"hostNetwork", "hostPID", "hostIPC", "stdin", "stdinOnce", "tty", "readOnly", "hostPort",
                         "initialDelaySeconds"})  # fmt: skip
_QUANTITIES = frozenset({"limits", "requests", "overhead"})


def meaning(value: Any, key: str = "") -> Any:
    """Return a value in a form in which values that mean the same are equal."""
    if type(value) is dict:
        if key in _QUANTITIES:
            return {name: _amount(text) for name, text in value.items()}
        inner = {name: meaning(item, name) for name, item in value.items()}
        return {
            name: item
            for name, item in inner.items()
            if item != "" and not (name in _PLAIN_ZERO and not item)
        }
    if type(value) is list:
        return [meaning(item) for item in value]
    return value


def _amount(text: Any) -> Fraction | Any:
    return quantity.parse(text) if type(text) is str else text


def same(left: Any, right: Any) -> bool:
    """Return whether two values mean the same."""
    return left == right or meaning(left) == meaning(right)


def validate_pod_update(new: Object, old: Object, errors: Errors) -> None:
    """Check an update of a pod; what holds for every pod has been checked before."""
    validate_annotation_updates(new, old, errors)
    after, before = new.get("spec", {}), old.get("spec", {})
    for key in ("containers", "initContainers"):
        if len(after.get(key, ())) != len(before.get(key, ())):
            errors.forbidden(_SPEC / key, "pod updates may not add or remove containers")
            return
    if not _deadline(after, before, errors):
        return
    _tolerations(after.get("tolerations", []), before.get("tolerations", []), errors)
    _scheduling_gates(after.get("schedulingGates", []), before.get("schedulingGates", []), errors)
    if after == before:
        return
    munged = _without_updatable(after, before)
    if before.get("schedulingGates"):
        _gated(munged, before, errors)
    if not same(munged, before):
        errors.forbidden(_SPEC, f"{_UPDATABLE}\n{difference('PodSpec', before, munged)}")


def validate_annotation_updates(new: Object, old: Object, errors: Errors) -> None:
    """Check that annotations that are fixed stay."""
    after, before = new["metadata"].get("annotations", {}), old["metadata"].get("annotations", {})
    if after == before:
        return
    for key, value in before.items():
        if after.get(key) != value:
            if key.startswith(APP_ARMOR):
                errors.forbidden(_ANNOTATIONS[key], "may not remove or update AppArmor annotations")
            if key == MIRROR:
                errors.forbidden(_ANNOTATIONS[key], "may not remove or update mirror pod annotation")
    for key in after:
        if key not in before:
            if key.startswith(APP_ARMOR):
                errors.forbidden(_ANNOTATIONS[key], "may not add AppArmor annotations")
            if key == MIRROR:
                errors.forbidden(_ANNOTATIONS[key], "may not add mirror pod annotation")


def _deadline(after: Object, before: Object, errors: Errors) -> bool:
    """Check that the deadline comes nearer or stays; return whether to go on."""
    path = _SPEC / "activeDeadlineSeconds"
    seconds, previous = after.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds")
    if seconds is None:
        if previous is not None:
            errors.invalid(path, None, "must not update from a positive integer to nil value")
        return True
    if not 0 <= seconds <= _MAX_INT32:
        errors.invalid(path, seconds, checks.within(0, _MAX_INT32))
        return False
    if previous is not None and previous < seconds:
        errors.invalid(path, seconds, "must be less than or equal to previous value")
        return False
    return True


def _tolerations(after: list[Object], before: list[Object], errors: Errors) -> None:
    if after == before:
        return
    kept = [{key: value for key, value in item.items() if key != "tolerationSeconds"} for item in after]
    for item in before:
        if {key: value for key, value in item.items() if key != "tolerationSeconds"} not in kept:
            text = "existing toleration can not be modified except its tolerationSeconds"
            errors.forbidden(_SPEC / "tolerations", text)
            return


def _scheduling_gates(after: list[Object], before: list[Object], errors: Errors) -> None:
    known = {gate.get("name", "") for gate in before}
    for name, index in {gate.get("name", ""): index for index, gate in enumerate(after)}.items():
        if name not in known:
            text = f"only deletion is allowed, but found new scheduling gate '{name}'"
            errors.forbidden((_SPEC / "schedulingGates")[index] / "name", text)


def _without_updatable(after: Object, before: Object) -> Object:
    """Return the new spec with the fields that may change set back to what they were."""
    munged = dict(after)
    for key in ("containers", "initContainers"):
        if key in munged:
            pairs = zip(munged[key], before.get(key, ()), strict=True)
            munged[key] = [{**container, "image": old.get("image", "")} for container, old in pairs]
    keep(munged, before, "activeDeadlineSeconds", "schedulingGates", "tolerations")
    if (
        before.get("terminationGracePeriodSeconds", 0) < 0
        and munged.get("terminationGracePeriodSeconds") == 1
    ):
        munged["terminationGracePeriodSeconds"] = before["terminationGracePeriodSeconds"]
    return munged


def _gated(munged: Object, before: Object, errors: Errors) -> None:
    """Check that a pod that is not yet up for scheduling only becomes choosier about nodes."""
    selector, previous = munged.get("nodeSelector", {}), before.get("nodeSelector", {})
    if any(selector.get(key) != value for key, value in previous.items()):
        text = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        errors.invalid(_SPEC / "nodeSelector", selector or None, text)
    keep(munged, before, "nodeSelector")
    affinity, old_affinity = munged.get("affinity"), before.get("affinity")
    new_node = affinity.get("nodeAffinity") if affinity else None
    old_node = old_affinity.get("nodeAffinity") if old_affinity else None
    if new_node == old_node:
        return
    _node_affinity(new_node or {}, old_node or {}, errors)
    if affinity is None:
        munged["affinity"] = {"nodeAffinity": old_node}
    elif old_affinity is None and "podAffinity" not in affinity and "podAntiAffinity" not in affinity:
        del munged["affinity"]
    else:
        munged["affinity"] = {key: item for key, item in affinity.items() if key != "nodeAffinity"}
        if old_node is not None:
            munged["affinity"]["nodeAffinity"] = old_node


def _node_affinity(new: Object, old: Object, errors: Errors) -> None:
    if _REQUIRED not in old:
        return
    path = _SPEC / "affinity" / "nodeAffinity" / _REQUIRED / "nodeSelectorTerms"
    before, after = (item.get(_REQUIRED, {}).get("nodeSelectorTerms", []) for item in (old, new))
    if before and len(before) != len(after):
        text = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        errors.invalid(path, [show("NodeSelectorTerm", term) for term in after] or None, text)
        return
    for index, (term, previous) in enumerate(zip(after, before, strict=True) if before else ()):
        if not _only_additions(term, previous):
            errors.invalid(
                path[index],
                show("NodeSelectorTerm", term),
                "only additions are allowed (no mutations or deletions)",
            )


def _only_additions(term: Object, previous: Object) -> bool:
    keys = ("matchExpressions", "matchFields")
    if not any(previous.get(key) for key in keys):
        return not any(term.get(key) for key in keys)
    return all(term.get(key, [])[: len(previous.get(key, []))] == previous.get(key, []) for key in keys)


def validate_ephemeral_containers_update(new: Object, old: Object, errors: Errors) -> None:
    """Check a write of ``ephemeralcontainers``: containers can only be added."""
    if MIRROR in old["metadata"].get("annotations", ()):
        errors.forbidden(Path(), "static pods do not support ephemeral containers")
        return
    validate_pod(new, errors)
    validate_annotation_updates(new, old, errors)
    path = _SPEC / "ephemeralContainers"
    containers_by_name = {
        item.get("name", ""): item for item in new.get("spec", {}).get("ephemeralContainers", ())
    }
    for container in old.get("spec", {}).get("ephemeralContainers", ()):
        name = container.get("name", "")
        if name not in containers_by_name:
            errors.forbidden(
                path, f"existing ephemeral containers {go_format.quote(name)} may not be removed\n"
            )
        elif not same(containers_by_name[name], container):
            text = f"existing ephemeral containers {go_format.quote(name)} may not be changed\n"
            errors.forbidden(
                path, text + difference("EphemeralContainer", container, containers_by_name[name])
            )
