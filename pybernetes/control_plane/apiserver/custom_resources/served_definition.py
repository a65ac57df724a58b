"""What is served of one definition: a kind for each version, in discovery and in OpenAPI."""

from __future__ import annotations

import dataclasses
from typing import Any

from pybernetes.api import errors
from pybernetes.api.apply.type_caches import forget
from pybernetes.api.customresource import kind as custom
from pybernetes.api.customresource import names
from pybernetes.api.resource import Object, Resource
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.custom_resources.conversion_webhook import Converter
from pybernetes.control_plane.apiserver.custom_resources.custom_kind import CustomKind
from pybernetes.control_plane.apiserver.discovery.discovery import Discovery
from pybernetes.control_plane.apiserver.openapi.openapi import OpenApi
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.write_check import WriteCheck

_ENDING_VERBS = ("delete", "deletecollection", "get", "list", "watch")


class ServedDefinition:
    """The kinds of one definition, as long as its spec and its names stay the same."""

    def __init__(self, context: ServerContext, definition: Object, since: int) -> None:
        self.source = source(definition)
        self.group = definition["spec"]["group"]
        self.plural = definition["status"]["acceptedNames"]["plural"]
        versions = definition["spec"]["versions"]
        forms = {version["name"]: custom.Form(version) for version in versions}
        storage = next(version["name"] for version in versions if version.get("storage"))
        conversion = definition["spec"].get("conversion") or {}
        webhook = None
        if conversion.get("strategy") == "Webhook" and len(versions) > 1:
            webhook = Converter(context, conversion.get("webhook") or {})
        self.kinds = {
            version["name"]: CustomKind(
                custom.build(definition, version, forms[version["name"]]),
                forms,
                since,
                webhook,
            )
            for version in versions
        }
        self.storage = self.kinds[storage]
        self.visible = [self.kinds[version["name"]] for version in versions if version.get("served")]
        self.ending = False

    def show(self, context: ServerContext, discovery: Discovery, openapi: OpenApi) -> None:
        """Serve it, except where a built-in kind is."""
        self.visible = [kind for kind in self.visible if not _is_built_in(context, kind.resource)]
        for kind in self.visible:
            context.kinds.add(kind)
            discovery.add(kind.resource)
            openapi.add(kind.resource, kind.schema.schema)

    def hide(self, context: ServerContext, discovery: Discovery, openapi: OpenApi) -> None:
        """Serve it no longer, and end its watches."""
        for kind in self.visible:
            context.kinds.remove(kind)
            discovery.remove(kind.resource)
            openapi.remove(kind.resource)
            context.metrics.forget(kind.resource)
            context.lists.forget(kind.form)
        for kind in self.kinds.values():
            forget(kind.resource.type)
        context.write_checks.pop((self.group, self.plural), None)

    def end(self, context: ServerContext, discovery: Discovery) -> None:
        """Let nobody make new objects, since the definition is being deleted."""
        if self.ending:
            return
        self.ending = True
        context.write_checks[self.group, self.plural] = WriteCheck(before=_refuse_new)
        for kind in self.visible:
            fewer = dataclasses.replace(kind.resource, verbs=_ENDING_VERBS)
            fewer.list_kind = kind.resource.list_kind
            discovery.add(fewer)


def source(definition: Object) -> tuple[Any, Any]:
    """Return all of a definition that its kinds are made from."""
    return definition["spec"], definition.get("status", {}).get("acceptedNames")


def is_ready(definition: Object) -> bool:
    """Return whether a definition is to be served."""
    return names.is_true(definition, "Established")


def _is_built_in(context: ServerContext, resource: Resource) -> bool:
    held = context.kinds.get(resource.group, resource.version, resource.plural)
    return held is not None and held.resource.own_type is None


async def _refuse_new(request: Request, new: Object, old: Object | None) -> None:
    if old is None:
        info = request.request_info
        details = {"group": info.group, "kind": info.resource}
        message = "create not allowed while custom resource definition is terminating"
        raise errors.StatusError(405, "MethodNotAllowed", message, details)
