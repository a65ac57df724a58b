"""The objects that the words of a command line name: by their type, with a selector or all of them, or by their names."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.errors import CommandError, Together, Verbatim
from pybernetes.tools.kubectl.resources.discovery import Resource, split_word, with_types
from pybernetes.tools.kubectl.resources.info import Info
from pybernetes.tools.kubectl.resources.reading import read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pybernetes.tools.kubectl.resources.builder import Builder

    Step = Callable[[], Iterator[Info]]

MISSING = """You must provide one or more resources by argument or filename.
Example resource specifications include:
   '-f rsrc.yaml'
   '--filename=rsrc.json'
   '<resource> <name>'
   '<resource>'"""


def steps(builder: Builder) -> list[Step]:
    """Return what finds the objects, step by step; CommandError if the words name none."""
    args = with_types(builder.args)
    slashes = sum("/" in word for word in args)
    if slashes and slashes != len(args):
        raise CommandError(
            "there is no need to specify a resource type as a separate argument when passing arguments in "
            "resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of "
            "'kubectl get resource resource/<resource_name>'"
        )
    tuples = [split_word(word) for word in args] if slashes else []
    types, names = ([], []) if tuples else (_types(builder, args[0]) if args else [], args[1:])
    selecting = builder.labels or builder.fields or builder.select_all
    if len(args) == 1 and not tuples and builder.empty_selector:
        selecting = True
    if selecting:
        return _by_selector(builder, types, names, tuples)
    if tuples:
        return _by_tuple(builder, tuples)
    if names:
        if len(types) > 1:
            raise CommandError("you must specify only one resource")
        resource = builder.context.discovery.find(types[0])
        _check_place(builder, resource)
        builder.single = len(names) == 1
        return [_getter(builder, resource, name) for name in names]
    if types:
        for type_name in types:
            builder.context.discovery.find(type_name)
        raise CommandError("resource(s) were provided, but no name was specified")
    raise Verbatim("error: " + MISSING)


def _by_selector(
    builder: Builder, types: list[str], names: list[str], tuples: list[tuple[str, str]]
) -> list[Step]:
    if names:
        raise CommandError("name cannot be provided when a selector is specified")
    if tuples:
        raise CommandError("selectors and the all flag cannot be used when passing resource/name arguments")
    if not types:
        raise CommandError("at least one resource must be specified to use a selector")
    if builder.subresource:
        raise CommandError("subresource cannot be used when bulk resources are specified")
    if len(types) > 1 and builder.single_type:
        raise CommandError("you may only specify a single resource type")
    resources = list(dict.fromkeys(builder.context.discovery.find(word) for word in types))
    return [_lister(builder, resource) for resource in resources]


def _by_tuple(builder: Builder, tuples: list[tuple[str, str]]) -> list[Step]:
    resources = {word: builder.context.discovery.find(word) for word, _ in tuples}
    if builder.single_type and len(set(resources.values())) > 1:
        raise CommandError("you may only specify a single resource type")
    for resource in resources.values():
        _check_place(builder, resource)
    builder.single = len(tuples) == 1
    return [_getter(builder, resources[word], name) for word, name in tuples]


def _check_place(builder: Builder, resource: Resource) -> None:
    if resource.namespaced and not (builder.default_namespace and builder.namespace):
        if builder.all_namespaces:
            raise CommandError("a resource cannot be retrieved by name across all namespaces")
        raise CommandError("namespace may not be empty when retrieving a resource by name")


def _getter(builder: Builder, resource: Resource, name: str) -> Step:
    def step() -> Iterator[Info]:
        info = Info(resource, builder.namespace if resource.namespaced else "", name)
        if builder.require_object:
            info.object = read(
                builder.context.client,
                resource,
                info.namespace,
                name,
                accept=builder.accept,
                query=builder.query,
                subresource=builder.subresource,
            )
        yield info

    return step


def _lister(builder: Builder, resource: Resource) -> Step:
    def step() -> Iterator[Info]:
        namespace = builder.namespace if resource.namespaced else ""
        whole = builder.context.client.list(
            resource, namespace, chunk=builder.chunk, accept=builder.accept, labels=builder.labels, fields=builder.fields,
            **builder.query,
        )  # fmt: skip
        if builder.scheme:
            from pybernetes.tools.kubectl.resources.built_in import unknown

            if text := unknown(resource, whole.get("kind") or "", builder.scheme):
                error = CommandError(text)
                raise Together([error]) if builder.lists_together else error
        if whole.get("kind") == "Table" or not builder.flatten:
            yield Info(resource, namespace, "", whole)
            return
        for item in whole.get("items") or ():
            item.setdefault("apiVersion", resource.api_version)
            item.setdefault("kind", resource.kind)
            metadata = item.get("metadata") or {}
            yield Info(resource, metadata.get("namespace") or "", metadata.get("name") or "", item)

    return step


def _types(builder: Builder, word: str) -> list[str]:
    names: list[str] = []
    for type_name in word.split(",") if builder.categories else ():
        expanded = builder.context.discovery.category(type_name)
        names += [item.full_name for item in expanded] if expanded else [type_name]
    return list(dict.fromkeys(names)) if builder.categories else [word]
