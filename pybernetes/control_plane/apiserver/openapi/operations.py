"""Every operation that a resource has, in a form from which both OpenAPI versions are written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pybernetes.api.resource import Resource
from pybernetes.control_plane.apiserver.discovery import subresource_kinds
from pybernetes.control_plane.apiserver.openapi import parameters as use
from pybernetes.control_plane.apiserver.openapi.parameters import Parameter
from pybernetes.control_plane.apiserver.openapi.schemas import META, Kind

OBJECT = ("application/json", "application/yaml")
LIST = ("application/json", "application/json;stream=watch", "application/yaml")
PATCHES = (
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
)
ANYTHING = ("*/*",)
_METHODS = ("get", "put", "post", "delete", "options", "head", "patch")
_CODES = {
    "create": (200, 201, 202), "update": (200, 201), "patch": (200, 201), "delete": (200, 202),
    "get": (200,), "list": (200,), "deletecollection": (200,),
}  # fmt: skip
_ACTIONS = {"create": "post", "update": "put"}
_WORDS = {
    "create": "create",
    "update": "replace",
    "patch": "patch",
    "delete": "delete",
    "get": "read",
    "list": "list",
}
_OF_METHOD = {"get": "get", "post": "create", "put": "update", "patch": "patch", "delete": "delete"}
_QUERIES = {
    "create": use.CREATE, "update": use.UPDATE, "patch": use.PATCH, "delete": use.DELETE, "get": use.NONE,
    "list": use.LIST, "deletecollection": use.DELETE_COLLECTION,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path. ``answer`` and ``body`` name definitions; an empty answer is plain text."""

    method: str
    name: str
    description: str
    action: str = ""
    kind: Kind | None = None
    query: tuple[Parameter, ...] = ()
    body: str = ""
    body_required: bool = False
    accepts: tuple[str, ...] = ()
    answer: str = ""
    answers: tuple[str, ...] = OBJECT
    codes: tuple[int, ...] = (200,)


@dataclass(frozen=True, slots=True)
class Path:
    """A path with the parameters that all of its operations share."""

    path: str
    tag: str
    parameters: tuple[Parameter, ...]
    operations: tuple[Operation, ...]


def group_words(group: str, custom: bool = False) -> str:
    """Return a group as it stands in names of operations: ``rbacAuthorization``, ``comExample`` for a custom one."""
    if custom:
        words = group.split(".")[::-1]
    else:
        words = (group.removesuffix(".k8s.io") or "core").split(".")
    return words[0] + "".join(_title(word) for word in words[1:])


def _title(word: str) -> str:
    return word[:1].upper() + word[1:]


class Describer:
    """Describes the paths of one resource."""

    def __init__(self, resource: Resource, definition: str, list_definition: str) -> None:
        group = group_words(resource.group, resource.own_type is not None)
        self.resource = resource
        self.definition = definition
        self.list_definition = list_definition
        self.tag = f"{group}_{resource.version}"
        self.group_version = _title(group) + _title(resource.version)
        self.root = (
            f"/apis/{resource.group}/{resource.version}" if resource.group else f"/api/{resource.version}"
        )
        self.scoped = ("Namespaced" if resource.namespaced else "") + resource.kind
        place = f"{self.root}/namespaces/{{namespace}}" if resource.namespaced else self.root
        self.collection = f"{place}/{resource.plural}"
        self.own_kind = Kind(resource.group, resource.version, resource.kind)

    def paths(self, definition_of: dict[Kind, str]) -> Iterator[Path]:
        """Return every path; ``definition_of`` finds the definitions of what subresources speak."""
        resource, kind = self.resource, self.resource.kind
        if resource.namespaced and "list" in resource.verbs:
            everywhere = self._operation("list", "get", f"{kind}ForAllNamespaces", self.list_definition)
            yield Path(f"{self.root}/{resource.plural}", self.tag, (use.PRETTY,), (everywhere,))
        inside = (use.NAMESPACE,) if resource.namespaced else ()
        served = self._served("list", "create", "deletecollection")
        if served:
            operations = tuple(self._collection_operation(verb) for verb in served)
            yield Path(self.collection, self.tag, (*inside, use.PRETTY), operations)
        item = f"{self.collection}/{{name}}"
        name = use.NAME._replace(description=use.NAME.description.format(kind=kind))
        served = self._served("get", "update", "delete", "patch")
        if served:
            methods = {verb: method for method, verb in _OF_METHOD.items()}
            operations = tuple(
                self._operation(
                    verb, methods[verb], self.scoped, META["Status"] if verb == "delete" else self.definition
                )
                for verb in served
            )
            yield Path(item, self.tag, (name, *inside, use.PRETTY), operations)
        for part in subresource_kinds.of(resource):
            yield from self._subresource(part, f"{item}/{part.name}", (name, *inside), definition_of)

    def _served(self, *verbs: str) -> list[str]:
        return [verb for verb in verbs if verb in self.resource.verbs]

    def _collection_operation(self, verb: str) -> Operation:
        if verb == "list":
            return self._operation(verb, "get", self.scoped, self.list_definition)
        if verb == "create":
            return self._operation(verb, "post", self.scoped, self.definition)
        return self._operation(verb, "delete", f"Collection{self.scoped}", META["Status"])

    def _operation(
        self, verb: str, method: str, suffix: str, answer: str, kind: Kind | None = None, what: str = ""
    ) -> Operation:
        body = ""
        accepts: tuple[str, ...] = OBJECT
        if verb in ("create", "update"):
            body = answer
        elif verb == "patch":
            body = META["Patch"]
            accepts = PATCHES if self.resource.own_type is None else PATCHES[:3]
        elif verb in ("delete", "deletecollection"):
            body = META["DeleteOptions"]
        word = "delete" if verb == "deletecollection" else _WORDS[verb]
        return Operation(
            method=method,
            name=f"{word}{self.group_version}{suffix}",
            description=_describe(verb, what or self.resource.kind),
            action=_ACTIONS.get(verb, verb),
            kind=kind or self.own_kind,
            query=_QUERIES[verb],
            body=body,
            body_required=verb in ("create", "update", "patch"),
            accepts=accepts if body else (),
            answer=answer,
            answers=LIST if verb == "list" else OBJECT,
            codes=_CODES[verb],
        )

    def _subresource(
        self,
        part: subresource_kinds.SubresourceKind,
        path: str,
        shared: tuple[Parameter, ...],
        definition_of: dict[Kind, str],
    ) -> Iterator[Path]:
        resource = self.resource
        kind = Kind(part.group or resource.group, part.version or resource.version, part.kind)
        suffix = f"{self.scoped}{_title(part.name)}"
        if part.name in subresource_kinds.CONNECTS:
            query = use.CONNECT[part.name]
            methods = _METHODS if part.name == "proxy" else ("get", "post")
            yield Path(path, self.tag, (*shared, *query), self._connects(methods, part.name, suffix, kind))
            if part.name == "proxy":
                below = self._connects(methods, part.name, f"{suffix}WithPath", kind)
                yield Path(f"{path}/{{path}}", self.tag, (*shared, use.PROXY_PATH, *query), below)
            return
        if part.name == "log":
            name = f"read{self.group_version}{suffix}"
            log = Operation("get", name, f"read log of the specified {resource.kind}", "get", self.own_kind)
            yield Path(path, self.tag, (*shared, *use.CONNECT["log"]), (log,))
            return
        definition = self.definition if kind == self.own_kind else definition_of[kind]
        operations = tuple(
            self._operation(verb, method, suffix, definition, kind, f"{part.name} of the {resource.kind}")
            for method, verb in (("get", "get"), ("put", "update"), ("post", "create"), ("patch", "patch"))
            if verb in part.verbs
        )
        yield Path(path, self.tag, (*shared, use.PRETTY), operations)

    def _connects(
        self, methods: tuple[str, ...], part: str, suffix: str, kind: Kind
    ) -> tuple[Operation, ...]:
        return tuple(
            Operation(
                method=method,
                name=f"connect{self.group_version}{_title(method)}{suffix}",
                description=f"connect {method.upper()} requests to {part} of {self.resource.kind}",
                action="connect",
                kind=kind,
                answers=ANYTHING,
            )
            for method in methods
        )


def _describe(verb: str, what: str) -> str:
    sentences = {
        "list": f"list or watch objects of kind {what}",
        "deletecollection": f"delete collection of {what}",
        "create": f"create a {what}",
        "delete": f"delete a {what}",
        "get": f"read the specified {what}",
        "update": f"replace the specified {what}",
        "patch": f"partially update the specified {what}",
    }
    return sentences[verb]
