"""What role bindings and cluster role bindings share."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.rbac import GROUP
from pybernetes.api.resource import Column, Object
from pybernetes.api.table import AGE, NAME
from pybernetes.api.text import go_format
from pybernetes.api.validation import checks, meta, names

_ROLE: go_format.Fields = {"APIGroup": ("apiGroup", None), "Kind": ("kind", None), "Name": ("name", None)}


def default(obj: Object) -> None:
    """Complete the API groups of the role and of users and groups."""
    role = obj.setdefault("roleRef", {})
    if not role.get("apiGroup"):
        role["apiGroup"] = GROUP
    for subject in obj.get("subjects", ()):
        if not subject.get("apiGroup") and subject.get("kind") in ("User", "Group"):
            subject["apiGroup"] = GROUP


def validate(obj: Object, errors: Errors, kinds: tuple[str, ...], namespaced: bool) -> None:
    """Check the role, which must be of one of the kinds, and the subjects."""
    role = obj.get("roleRef", {})
    path = Path("roleRef")
    if role.get("apiGroup", "") != GROUP:
        errors.unsupported(path / "apiGroup", role.get("apiGroup", ""), (GROUP,))
    if role.get("kind", "") not in kinds:
        errors.unsupported(path / "kind", role.get("kind", ""), kinds)
    name = role.get("name", "")
    checks.name(names.path_segment, name, path / "name", errors)
    subjects = obj.get("subjects", ())
    for index, subject in enumerate(subjects):
        _subject(subject, namespaced, Path("subjects")[index], errors)
    for index, subject in enumerate(subjects):
        if not subject.get("name"):
            errors.required(Path("subjects")[index] / "name")
    if not name:
        errors.required(path / "name")


def _subject(subject: Object, namespaced: bool, path: Path, errors: Errors) -> None:
    kind, group, name = subject.get("kind", ""), subject.get("apiGroup", ""), subject.get("name", "")
    if kind == "ServiceAccount":
        if name:
            checks.name(names.dns_subdomain, name, path / "name", errors)
        if group:
            errors.unsupported(path / "apiGroup", group, ("",))
        if not namespaced and not subject.get("namespace"):
            errors.required(path / "namespace")
    elif kind in ("User", "Group"):
        if group != GROUP:
            errors.unsupported(path / "apiGroup", group, (GROUP,))
    else:
        errors.unsupported(path / "kind", kind, ("ServiceAccount", "User", "Group"))


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that the role stays the same: who may bind it was decided when it was bound."""
    if new.get("roleRef") != old.get("roleRef"):
        role = {"apiGroup": "", "kind": "", "name": "", **new.get("roleRef", {})}
        errors.invalid(Path("roleRef"), go_format.struct(role, _ROLE), meta.IMMUTABLE)


def _role(obj: Object, now: float) -> str:
    role = obj.get("roleRef", {})
    return f"{role.get('kind', '')}/{role.get('name', '')}"


def _names(obj: Object, kind: str) -> str:
    return ", ".join(item.get("name", "") for item in obj.get("subjects", ()) if item.get("kind") == kind)


def _accounts(obj: Object, now: float) -> str:
    return ", ".join(
        f"{item.get('namespace', '')}/{item.get('name', '')}"
        for item in obj.get("subjects", ())
        if item.get("kind") == "ServiceAccount"
    )


COLUMNS = (
    NAME,
    Column("Role", _role, description="The role that is bound."),
    AGE,
    Column("Users", lambda obj, now: _names(obj, "User"), priority=1),
    Column("Groups", lambda obj, now: _names(obj, "Group"), priority=1),
    Column("ServiceAccounts", _accounts, priority=1),
)
