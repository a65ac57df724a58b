"""OwnerReferencesPermissionEnforcement: who may not delete an object may not make the garbage collector do it."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.admission.attributes import CREATE, Attributes
from pybernetes.control_plane.apiserver.admission.authorization_checks import verdict
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, PluginInputs, Scope
from pybernetes.control_plane.apiserver.storage.kind import Kind

Reference = dict[str, Any]


def _references(obj: Object | None) -> list[Reference]:
    return (obj or {}).get("metadata", {}).get("ownerReferences") or []


def newly_blocking(new: list[Reference], old: list[Reference]) -> list[Reference]:
    """Return the references that hold up the deletion of their owner and did not before."""
    before = {reference.get("uid") for reference in old if reference.get("blockOwnerDeletion")}
    return [
        reference
        for reference in new
        if reference.get("blockOwnerDeletion") and reference.get("uid") not in before
    ]


class OwnerReferencesPermissionEnforcement(Plugin):
    """The plugin."""

    name = "OwnerReferencesPermissionEnforcement"
    order = 220
    scope = Scope(subresources=None)

    def __init__(self, inputs: PluginInputs) -> None:
        self._context = inputs.context

    def validate(self, attributes: Attributes) -> Awaitable[None] | None:
        """Refuse changes of owners without the permission that they amount to."""
        if attributes.subresource == "status" and attributes.resource.plural == "pods":
            return None  # a status cannot change owners
        new, old = _references(attributes.obj), _references(attributes.old)
        return None if new == old else self._check(attributes, new, old)

    async def _check(self, attributes: Attributes, new: list[Reference], old: list[Reference]) -> None:
        resource, user = attributes.resource, attributes.user
        if attributes.operation != CREATE:
            answer = await verdict(
                self._context, user, "delete", resource.group, resource.plural, attributes.name,
                version=resource.version, subresource=attributes.subresource, namespace=attributes.namespace,
            )  # fmt: skip
            if not answer.allowed:
                attributes.refuse(
                    f"cannot set an ownerRef on a resource you can't delete: {answer.reason}, <nil>"
                )
        blocking = newly_blocking(new, old)
        if not blocking:
            return
        everything = await verdict(self._context, user, "update", "*", "*", "*", subresource="finalizers")
        if not everything.allowed:
            for reference in blocking:
                await self._check_owner(attributes, reference)

    async def _check_owner(self, attributes: Attributes, reference: Reference) -> None:
        version, kind_name = reference.get("apiVersion", ""), reference.get("kind", "")
        kinds = self._kinds(version, kind_name)
        if not kinds:
            missing = (
                f"no matches for kind {go_format.quote(kind_name)} in version {go_format.quote(version)}"
            )
            attributes.refuse(
                "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion "
                f"{version} Kind {kind_name}: {missing}"
            )
        for kind in kinds:
            answer = await verdict(
                self._context, attributes.user, "update", kind.resource.group, kind.resource.plural,
                reference.get("name", ""), version=kind.resource.version, subresource="finalizers",
                namespace=attributes.namespace if kind.namespaced else "",
            )  # fmt: skip
            if not answer.allowed:
                attributes.refuse(
                    "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set "
                    f"finalizers on: {answer.reason}, <nil>"
                )

    def _kinds(self, api_version: str, name: str) -> list[Kind]:
        return [
            kind
            for kind in self._context.kinds
            if kind.resource.api_version == api_version and kind.resource.kind == name
        ]


PLUGIN = OwnerReferencesPermissionEnforcement
