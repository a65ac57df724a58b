"""Writes paths in the words of OpenAPI 3.0 and of Swagger 2.0."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from pybernetes import KUBERNETES_VERSION
from pybernetes.control_plane.apiserver.openapi.operations import Operation, Path
from pybernetes.control_plane.apiserver.openapi.parameters import Parameter
from pybernetes.control_plane.apiserver.openapi.schemas import V2, V3

INFO = {"title": "Kubernetes", "version": ".".join(KUBERNETES_VERSION.removeprefix("v").split(".")[:2])}
_BEARER = {
    "BearerToken": {
        "type": "apiKey",
        "description": "Bearer Token authentication",
        "name": "authorization",
        "in": "header",
    }
}
SECURITY_V3 = {"securitySchemes": _BEARER}
SECURITY_V2 = {"securityDefinitions": _BEARER, "security": [{"BearerToken": []}]}


def paths_v3(paths: Iterable[Path]) -> dict[str, Any]:
    """Return the paths of an OpenAPI 3.0 document."""
    return _paths(paths, _operation_v3, _parameter_v3)


def paths_v2(paths: Iterable[Path]) -> dict[str, Any]:
    """Return the paths of a Swagger 2.0 document."""
    return _paths(paths, _operation_v2, _parameter_v2)


def _paths(paths: Iterable[Path], operation: Any, parameter: Any) -> dict[str, Any]:
    written: dict[str, Any] = {}
    for path in paths:
        item = {described.method: operation(path, described) for described in path.operations}
        if path.parameters:
            item["parameters"] = [parameter(described) for described in path.parameters]
        written[path.path] = item
    return written


def _head(path: Path, operation: Operation) -> dict[str, Any]:
    return {"tags": [path.tag], "description": operation.description, "operationId": operation.name}


def _extensions(operation: Operation) -> dict[str, Any]:
    extensions: dict[str, Any] = {}
    if operation.action:
        extensions["x-kubernetes-action"] = operation.action
    if operation.kind:
        extensions["x-kubernetes-group-version-kind"] = operation.kind._asdict()
    return extensions


def _parameter_v3(parameter: Parameter) -> dict[str, Any]:
    written: dict[str, Any] = {
        "name": parameter.name,
        "in": parameter.location,
        "description": parameter.description,
    }
    if parameter.location == "path":
        written["required"] = True
    return {**written, "schema": {"type": parameter.type, "uniqueItems": True}}


def _parameter_v2(parameter: Parameter) -> dict[str, Any]:
    written: dict[str, Any] = {
        "uniqueItems": True,
        "type": parameter.type,
        "description": parameter.description,
        "name": parameter.name,
        "in": parameter.location,
    }
    if parameter.location == "path":
        written["required"] = True
    return written


def _schema(definition: str, prefix: str) -> dict[str, Any]:
    return {"$ref": prefix + definition} if definition else {"type": "string"}


def _operation_v3(path: Path, operation: Operation) -> dict[str, Any]:
    written = _head(path, operation)
    if operation.query:
        written["parameters"] = [_parameter_v3(parameter) for parameter in operation.query]
    if operation.body:
        schema = _schema(operation.body, V3)
        body: dict[str, Any] = {"content": {media: {"schema": schema} for media in operation.accepts}}
        if operation.body_required:
            body["required"] = True
        written["requestBody"] = body
    answers = {media: {"schema": _schema(operation.answer, V3)} for media in operation.answers}
    responses: dict[str, Any] = {
        str(code): {"description": HTTPStatus(code).phrase, "content": answers} for code in operation.codes
    }
    responses["401"] = {"description": "Unauthorized"}
    return {**written, "responses": responses, **_extensions(operation)}


def _operation_v2(path: Path, operation: Operation) -> dict[str, Any]:
    written = _head(path, operation)
    written["consumes"] = list(operation.accepts) or ["*/*"]
    written["produces"] = list(operation.answers)
    written["schemes"] = ["https"]
    parameters = [_parameter_v2(parameter) for parameter in operation.query]
    if operation.body:
        body: dict[str, Any] = {"name": "body", "in": "body", "schema": _schema(operation.body, V2)}
        if operation.body_required:
            body["required"] = True
        parameters.insert(0, body)
    if parameters:
        written["parameters"] = parameters
    schema = _schema(operation.answer, V2)
    responses: dict[str, Any] = {
        str(code): {"description": HTTPStatus(code).phrase, "schema": schema} for code in operation.codes
    }
    responses["401"] = {"description": "Unauthorized"}
    return {**written, "responses": responses, **_extensions(operation)}
