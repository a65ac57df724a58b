"""The objects that are in files, at addresses and in standard input, or that a kustomization is built to."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.errors import CommandError, NotValidated, Together
from pybernetes.tools.kubectl.resources import manifests, object_check
from pybernetes.tools.kubectl.resources.discovery import Resource
from pybernetes.tools.kubectl.resources.info import Info
from pybernetes.tools.kubectl.resources.reading import read

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from pybernetes.tools.kubectl.resources.builder import Builder


def objects(builder: Builder) -> Iterator[Info]:
    """Return the objects of all files, each read when it is asked for."""
    if not builder.kustomize:
        manifests.missing(builder.filenames)
    if builder.args:
        if any("/" in word for word in builder.args):
            raise CommandError("resource/name arguments cannot be provided when a path is specified")
        if len(builder.args) > 1:
            raise CommandError("name cannot be provided when a path is specified")
        raise CommandError(
            "when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well"
        )
    if builder.filenames.count("-") > 1:
        raise CommandError("standard input cannot be used for multiple arguments")
    names = (
        [builder.kustomize] if builder.kustomize else manifests.expand(builder.filenames, builder.recursive)
    )
    matcher = None
    if builder.labels:
        from pybernetes.api.selectors import SelectorError, parse_labels

        try:
            matcher = parse_labels(builder.labels)
        except SelectorError as error:
            raise CommandError(f'the provided selector "{builder.labels}" is not valid: {error}') from None
    builder.single = builder.one_file = len(names) == 1 and names[0] != "-" and not builder.kustomize
    return _of_names(builder, names, matcher)


def _of_names(builder: Builder, names: list[str], matcher: Any) -> Iterator[Info]:
    count = 0
    for name in names:
        for info in _guarded(builder, name):
            if matcher is not None and not matcher.matches(
                (info.object.get("metadata") or {}).get("labels") or {}
            ):
                continue
            count += 1
            yield info
    builder.single = builder.single and count == 1


def _guarded(builder: Builder, name: str) -> Iterator[Info]:
    try:
        for value, source in _values(builder, name):
            if builder.validating:
                # If it is refused, the rest of the file is not looked at.
                strict = builder.context.validation() == "Strict"
                object_check.validate(value, source, builder.context.client, strict)
            yield from _of_document(builder, value, source)
    except CommandError as error:
        if not builder.continue_on_error:
            raise
        builder.errors.append(error)


def _of_document(builder: Builder, value: Any, source: str) -> Iterator[Info]:
    is_list = builder.flatten and isinstance(value, dict) and "items" in value
    before = len(builder.errors)
    try:
        items = _flat(builder, value, source) if is_list else [value]
    except CommandError as error:
        builder.keep(error)
        return
    for item in items:
        try:
            yield _loaded(builder, item, source, is_list)
        except NotValidated:
            raise
        except CommandError as error:
            builder.keep(error)
    if is_list and builder.lists_together and builder.errors[before:]:
        builder.errors[before:] = [Together(builder.errors[before:])]


def _values(builder: Builder, name: str) -> Iterator[tuple[Any, str]]:
    """Yield what is in a file, or what a kustomization is built to, and what messages call it."""
    if builder.kustomize:
        from pybernetes.tools.kubectl.kustomize.build import objects as built

        for value in built(name, builder.context):
            yield value, name
        return
    raw, source = manifests.read(name, builder.context.take_input() if name == "-" else None)
    for value in manifests.values(raw, source):
        yield value, source


def _flat(builder: Builder, value: Any, source: str) -> list[Any]:
    """Return the items of a list; what says of itself neither kind nor version is what the list is of."""
    items: list[Any] = []
    object_check.check_list(value, source, bool(builder.scheme))
    kind, version = str(value["kind"]).removesuffix("List"), str(value.get("apiVersion") or "")
    if kind and not builder.local:
        try:
            builder.context.discovery.of_kind(version, kind, not builder.validating)
        except CommandError as error:
            told = CommandError(error.message.replace(f'"{kind}"', f'"{value["kind"]}"', 1))
            raise object_check.unknown(told, value, source) from None
    for item in value["items"] or ():
        if isinstance(item, dict) and not item.get("kind") and not item.get("apiVersion"):
            item = {**item, "kind": kind, "apiVersion": version}
        if isinstance(item, dict) and isinstance(item.get("items"), list):
            raise CommandError("*unstructured.Unstructured is not a list: no Items field in this object")
        items.append(item)
    return items


def _loaded(builder: Builder, value: Any, source: str, in_list: bool) -> Info:
    object_check.check(value, source, bool(builder.scheme or (builder.local and builder.accepts)), in_list)
    object_check.check_metadata(value, source)
    if builder.accepts is not None:
        builder.accepts(value)
    metadata = value.get("metadata") or {}
    name = metadata.get("name") or ""
    if builder.local:
        group, _, version = (value.get("apiVersion") or "").rpartition("/")
        kind = value["kind"]
        resource = Resource(group, version, kind.lower() + "s", kind.lower(), kind, True)
        return Info(resource, metadata.get("namespace") or "", name, value, source)
    if builder.validating:
        object_check.reach(builder.context.client, source)
    try:
        resource = builder.context.discovery.of_kind(
            value.get("apiVersion") or "", value["kind"], not builder.validating, builder.settled
        )
    except CommandError as error:
        raise object_check.unknown(error, value, source, builder.validating, in_list) from None
    info = Info(resource, metadata.get("namespace") or "", name, value, source)
    if builder.default_namespace:
        _set_namespace(builder, info)
    if builder.latest and name:
        if resource.namespaced and not info.namespace:
            kind = f"{resource.group}/{resource.version}, Resource={resource.plural}"
            raise CommandError(f'no namespace set on resource {kind} "{name}"')
        info.object = read(
            builder.context.client, resource, info.namespace, name, accept=builder.accept, query=builder.query
        )
    return info


def _set_namespace(builder: Builder, info: Info) -> None:
    if not info.resource.namespaced:
        info.namespace = ""
        if (info.object.get("metadata") or {}).get("namespace"):
            kept = {key: item for key, item in info.object["metadata"].items() if key != "namespace"}
            info.object["metadata"] = kept
        return
    wanted = builder.context.namespace
    if not info.namespace:
        info.namespace = wanted
        info.object["metadata"] = {**(info.object.get("metadata") or {}), "namespace": wanted}
    elif builder.enforce_namespace and info.namespace != wanted:
        raise CommandError(
            f'the namespace from the provided object "{info.namespace}" does not match the namespace "{wanted}". '
            f"You must pass '--namespace={info.namespace}' to perform this operation."
        )
