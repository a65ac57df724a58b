"""How a group describes itself to clients: discovery, old and aggregated, and OpenAPI. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pybernetes import KUBERNETES_VERSION
from pybernetes.api.resource import Object
from pybernetes.lib.http import accept
from pybernetes.runtime.aggregated_api.api_group import ApiGroup, ServedResource

AGGREGATED_TYPE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_AGGREGATED = {"g": "apidiscovery.k8s.io", "v": "v2", "as": "APIGroupDiscoveryList"}


def wants_aggregated(header: str) -> bool:
    """Return whether a client takes the aggregated form before the old one."""
    for clause in accept.parse(header):
        if clause.type in ("application/json", "*/*"):
            return clause.parameters == _AGGREGATED
    return False


def group_list(groups: Iterable[ApiGroup]) -> Object:
    """Return the groups of a server."""
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(group) for group in groups]}


def group(served: ApiGroup) -> Object:
    """Return one group of a server."""
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(served)}


def _group(served: ApiGroup) -> Object:
    version = {"groupVersion": served.group_version, "version": served.version}
    return {"name": served.group, "versions": [version], "preferredVersion": version}


def resource_list(served: ApiGroup) -> Object:
    """Return the resources of a group, in the old form."""
    rows = [
        {
            "name": resource.name, "singularName": resource.singular, "namespaced": resource.namespaced,
            "kind": resource.kind, "verbs": list(resource.verbs),
        }
        for resource in served.resources()
    ]  # fmt: skip
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": served.group_version,
        "resources": rows,
    }


def aggregated(groups: Iterable[ApiGroup]) -> Object:
    """Return groups and resources in one document."""
    items = [
        {
            "metadata": {"name": served.group, "creationTimestamp": None},
            "versions": [
                {"version": served.version, "freshness": "Current", "resources": _aggregated_rows(served)}
            ],
        }
        for served in groups
    ]
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    }


def _aggregated_rows(served: ApiGroup) -> list[Object]:
    """Return rows with subresources below what they belong to; names such as ``pods/requests`` are subresources."""
    rows: dict[str, Object] = {}
    for resource in served.resources():
        name, _, subresource = resource.name.partition("/")
        kind = {"group": served.group, "version": served.version, "kind": resource.kind}
        if subresource:
            parent = rows.setdefault(name, {"resource": name, "scope": _scope(resource), "verbs": []})
            row = {"subresource": subresource, "responseKind": kind, "verbs": list(resource.verbs)}
            parent.setdefault("subresources", []).append(row)
        else:
            rows[name] = rows.get(name, {}) | {
                "resource": name, "responseKind": kind, "scope": _scope(resource),
                "singularResource": resource.singular, "verbs": list(resource.verbs),
            }  # fmt: skip
    return list(rows.values())


def _scope(resource: ServedResource) -> str:
    return "Namespaced" if resource.namespaced else "Cluster"


def openapi_v2(groups: Iterable[ApiGroup]) -> Object:
    """Return the OpenAPI document of all groups, version 2."""
    paths: Object = {}
    definitions: Object = {}
    title = ""
    for served in groups:
        title = title or served.title
        definitions |= {
            _name(served, kind): _schema(served, kind, "#/definitions/") for kind in served.schemas
        }
        for path, kind, resource in _paths(served):
            answer = {"description": "OK", "schema": {"$ref": f"#/definitions/{_name(served, kind)}"}}
            paths[path] = _operation(served, path, kind, resource, {"200": answer})
    return {
        "swagger": "2.0", "info": {"title": title, "version": KUBERNETES_VERSION}, "paths": paths,
        "definitions": definitions,
    }  # fmt: skip


def openapi_v3(served: ApiGroup) -> Object:
    """Return the OpenAPI document of a group, version 3."""
    prefix = "#/components/schemas/"
    paths: Object = {}
    for path, kind, resource in _paths(served):
        content = {"application/json": {"schema": {"$ref": f"{prefix}{_name(served, kind)}"}}}
        paths[path] = _operation(
            served, path, kind, resource, {"200": {"description": "OK", "content": content}}
        )
    schemas = {_name(served, kind): _schema(served, kind, prefix) for kind in served.schemas}
    return {
        "openapi": "3.0.0", "info": {"title": served.title, "version": KUBERNETES_VERSION}, "paths": paths,
        "components": {"schemas": schemas},
    }  # fmt: skip


def _name(served: ApiGroup, kind: str) -> str:
    return f"io.k8s.{served.group.removesuffix('.k8s.io')}.{served.version}.{kind}"


def _schema(served: ApiGroup, kind: str, prefix: str) -> Object:
    def referred(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: f"{prefix}{_name(served, inner)}" if key == "$ref" else referred(inner)
                for key, inner in value.items()
            }
        return value

    schema: Object = {"type": "object", "properties": referred(dict(served.schemas[kind]))}
    if "apiVersion" in served.schemas[kind]:
        row = {"group": served.group, "version": served.version, "kind": kind}
        schema["x-kubernetes-group-version-kind"] = [row]
    return schema


def _paths(served: ApiGroup) -> Iterable[tuple[str, str, ServedResource]]:
    """Yield the paths of plain resources, with the kinds that they answer with."""
    root = f"/apis/{served.group_version}"
    for resource in served.resources():
        if resource.kind not in served.schemas or "/" in resource.name:
            continue
        collection = f"{root}/{resource.name}"
        yield collection, f"{resource.kind}List", resource
        if resource.namespaced:
            collection = f"{root}/namespaces/{{namespace}}/{resource.name}"
            yield collection, f"{resource.kind}List", resource
        yield f"{collection}/{{name}}", resource.kind, resource


def _operation(served: ApiGroup, path: str, kind: str, resource: ServedResource, responses: Object) -> Object:
    verb = "get" if path.endswith("{name}") else "list"
    row = {"group": served.group, "version": served.version, "kind": resource.kind}
    return {
        "get": {
            "operationId": f"{verb}{kind}{'Namespaced' if '{namespace}' in path else ''}",
            "responses": responses,
            "x-kubernetes-action": verb,
            "x-kubernetes-group-version-kind": row,
        }
    }
