"""Which names a definition gets, and what its conditions say about that."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.api.resource import Object
from pybernetes.api.text import go_format

Condition = dict[str, str]
FINALIZER = "customresourcecleanup.apiextensions.k8s.io"


def find(definition: Object, kind: str) -> Condition | None:
    """Return a condition of a definition by its type."""
    conditions = definition.get("status", {}).get("conditions") or ()
    return next((item for item in conditions if item.get("type") == kind), None)


def is_true(definition: Object, kind: str) -> bool:
    """Return whether a condition of a definition holds."""
    held = find(definition, kind)
    return held is not None and held.get("status") == "True"


def condition(kind: str, status: str, reason: str, message: str) -> Condition:
    """Return a condition, not yet dated."""
    return {"type": kind, "status": status, "reason": reason, "message": message}


def with_conditions(definition: Object, changes: Iterable[Condition], now: str) -> Object:
    """Return the definition with conditions, each dated when its status changed."""
    status = dict(definition.get("status", {}))
    conditions = [dict(item) for item in status.get("conditions") or ()]
    for new in changes:
        old = next((item for item in conditions if item.get("type") == new["type"]), None)
        since = old["lastTransitionTime"] if old and old.get("status") == new["status"] else now
        dated = {"lastTransitionTime": since, **new}
        if old is None:
            conditions.append(dated)
        else:
            conditions[conditions.index(old)] = dated
    status["conditions"] = conditions
    return {**definition, "status": status}


def taken(others: Iterable[Object]) -> tuple[set[str], set[str]]:
    """Return the names of resources and of kinds that other definitions of a group have."""
    resources: set[str] = set()
    kinds: set[str] = set()
    for other in others:
        names = other.get("status", {}).get("acceptedNames", {})
        resources |= {names.get("plural", ""), names.get("singular", ""), *names.get("shortNames", ())}
        kinds |= {names.get("kind", ""), names.get("listKind", "")}
    return resources - {""}, kinds - {""}


def accept(definition: Object, others: Iterable[Object]) -> tuple[Object, Condition]:
    """Return the names that a definition can have beside the others of its group, and whether they are all."""
    resources, kinds = taken(others)
    wanted, held = definition["spec"]["names"], definition.get("status", {}).get("acceptedNames", {})
    got = {**held}
    problem: Condition | None = None
    for key, reason, used in (
        ("plural", "PluralConflict", resources),
        ("singular", "SingularConflict", resources),
        ("shortNames", "ShortNamesConflict", resources),
        ("kind", "KindConflict", kinds),
        ("listKind", "ListKindConflict", kinds),
    ):
        if key == "shortNames":
            mine = held.get(key, ())
            conflicts = [name for name in wanted.get(key, ()) if name not in mine and name in used]
        else:
            name = wanted.get(key, "")
            conflicts = [name] if name != held.get(key, "") and name in used else []
        if conflicts:
            texts = [f"{go_format.quote(name)} is already in use" for name in conflicts]
            message = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
            problem = condition("NamesAccepted", "False", reason, message)
        elif key in wanted:
            got[key] = wanted[key]
        else:
            got.pop(key, None)
    if "categories" in wanted:
        got["categories"] = wanted["categories"]
    else:
        got.pop("categories", None)
    return got, problem or condition("NamesAccepted", "True", "NoConflicts", "no conflicts found")


def settle(definition: Object, others: Iterable[Object], now: str) -> Object:
    """Return the definition with the names and conditions that it should have."""
    got, accepted = accept(definition, others)
    established = condition("Established", "False", "NotAccepted", "not all names are accepted")
    old = find(definition, "Established")
    if old is not None:
        established = condition("Established", old["status"], old.get("reason", ""), old.get("message", ""))
    if established["status"] != "True" and accepted["status"] == "True":
        message = "the initial names have been accepted"
        established = condition("Established", "True", "InitialNamesAccepted", message)
    conditions = [accepted, established, *_approval(definition)]
    status = {**definition.get("status", {}), "acceptedNames": got}
    return with_conditions({**definition, "status": status}, conditions, now)


def _approval(definition: Object) -> list[Condition]:
    """Return what is said of definitions in the groups of the Kubernetes project."""
    group = definition["spec"]["group"]
    if not (group in ("k8s.io", "kubernetes.io") or group.endswith((".k8s.io", ".kubernetes.io"))):
        return []
    value = definition["metadata"].get("annotations", {}).get("api-approved.kubernetes.io", "")
    kind = "KubernetesAPIApprovalPolicyConformant"
    if value.startswith("unapproved"):
        text = f'not approved: "{value}"'
        return [condition(kind, "False", "UnapprovedAnnotation", text)]
    return [condition(kind, "True", "ApprovedAnnotation", f"approved in {value}")]


def terminating(definition: Object, reason: str, message: str, now: str, status: str = "True") -> Object:
    """Return the definition with what is said of its end."""
    return with_conditions(definition, [condition("Terminating", status, reason, message)], now)


def begin_deletion(definition: Object, now: str) -> None:
    """Do what the first request to delete a definition does to it: its objects go first."""
    meta = definition["metadata"]
    if meta.get("deletionTimestamp"):
        return
    if FINALIZER not in meta.get("finalizers", ()):
        meta["finalizers"] = [*meta.get("finalizers", ()), FINALIZER]
    message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
    definition["status"] = terminating(definition, "InstanceDeletionPending", message, now)["status"]
