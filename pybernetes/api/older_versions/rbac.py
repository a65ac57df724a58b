"""Roles and their bindings v1alpha1: subjects have a version instead of a group, messages other numbers."""

from __future__ import annotations

from pybernetes.api.older_versions._older_version import OlderVersion, Table
from pybernetes.api.resource import Object

_GROUP = "rbac.authorization.k8s.io"


def convert(obj: Object) -> Object:
    """Give subjects their group; the user ``*`` stood for everybody who is authenticated."""
    for subject in obj.get("subjects") or ():
        # In protobuf the version has the number of the group.
        version = subject.pop("apiVersion", "") or subject.get("apiGroup", "")
        kind = subject.get("kind", "")
        if kind == "ServiceAccount":
            subject.pop("apiGroup", None)
        elif kind in ("User", "Group"):
            subject["apiGroup"] = _GROUP
        else:
            subject["apiGroup"] = version.rpartition("/")[0]
        if kind == "User" and subject.get("name") == "*":
            subject.update(kind="Group", name="system:authenticated")
    return obj


OLDER: Table = {
    (f"{_GROUP}/v1alpha1", kind): OlderVersion(f"{_GROUP}/v1", convert)
    for kind in ("ClusterRoleBinding", "RoleBinding")
} | {
    (f"{_GROUP}/v1alpha1", kind): OlderVersion(f"{_GROUP}/v1", definition=f"io.k8s.api.rbac.v1alpha1.{kind}")
    for kind in ("ClusterRole", "Role")
}
