"""An object of a build. What the build must remember of it stands in annotations until it ends, as in the original."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.resid import Gvk, ResId
from pybernetes.tools.kubectl.kustomize.yaml_nodes.merging import merge
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import (
    MAPPING,
    SCALAR,
    Node,
    is_empty,
    mapping,
    scalar,
    text,
)
from pybernetes.tools.kubectl.kustomize.yaml_nodes.paths import get, lookup, require, set_field
from pybernetes.tools.kubectl.kustomize.yaml_nodes.values import to_value

if TYPE_CHECKING:
    from typing import Any

DOMAIN = "internal.config.kubernetes.io"
NAMES, NAMESPACES, KINDS = (f"{DOMAIN}/previous{name}" for name in ("Names", "Namespaces", "Kinds"))
PREFIXES, SUFFIXES, REFERRED = (f"{DOMAIN}/{name}" for name in ("prefixes", "suffixes", "refBy"))
BEHAVIOR, NEEDS_HASH = f"{DOMAIN}/generatorBehavior", f"{DOMAIN}/needsHashSuffix"
NAME_CHANGE, KIND_CHANGE = f"{DOMAIN}/allowNameChange", f"{DOMAIN}/allowKindChange"
HELM = f"{DOMAIN}/helm-generated"
ORIGIN, TRANSFORMATIONS = "config.kubernetes.io/origin", "alpha.config.kubernetes.io/transformations"
BUILD_ANNOTATIONS = (
    KINDS, NAMES, PREFIXES, SUFFIXES, NAMESPACES, NAME_CHANGE, KIND_CHANGE, REFERRED, BEHAVIOR, NEEDS_HASH,
    f"{DOMAIN}/path", f"{DOMAIN}/index", f"{DOMAIN}/seqindent", "config.k8s.io/id",
    f"{DOMAIN}/annotations-migration-resource-id", "config.kubernetes.io/path", "config.kubernetes.io/index",
    f"{DOMAIN}/id", HELM,
)  # fmt: skip
ENABLED = "enabled"


class Resource:
    """An object; ``node`` is None when a patch has deleted it."""

    __slots__ = ("node", "variables")

    def __init__(self, node: Node | None) -> None:
        self.node = node
        self.variables: list[str] = []

    @property
    def is_gone(self) -> bool:
        """Whether nothing is left of it."""
        return is_empty(self.node)

    # What it is

    def _value(self, name: str) -> str:
        field = self.node.content.get(name) if self.node is not None and self.node.kind == MAPPING else None
        return field.value if field is not None else ""

    @property
    def kind(self) -> str:
        """The kind."""
        return self._value("kind")

    @property
    def gvk(self) -> Gvk:
        """Group, version and kind."""
        return Gvk.of(self._value("apiVersion"), self._value("kind"))

    @property
    def metadata(self) -> Node | None:
        """The metadata, None for empty ones."""
        metadata = self.node.field("metadata") if self.node is not None else None
        return None if is_empty(metadata) else metadata

    def _meta(self, name: str) -> str:
        metadata = self.metadata
        field = metadata.field(name) if metadata is not None else None
        return "" if field is None or is_empty(field) else field.value

    @property
    def name(self) -> str:
        """The name."""
        return self._meta("name")

    @property
    def namespace(self) -> str:
        """The namespace."""
        return self._meta("namespace")

    def _map(self, name: str) -> dict[str, str]:
        metadata = self.metadata
        field = metadata.field(name) if metadata is not None else None
        if field is None or field.kind != MAPPING:
            return {}
        return {key: value.value for key, value in field.content.items()}

    @property
    def labels(self) -> dict[str, str]:
        """The labels."""
        return self._map("labels")

    @property
    def annotations(self) -> dict[str, str]:
        """The annotations."""
        return self._map("annotations")

    def annotation(self, name: str) -> str | None:
        """Return one annotation."""
        metadata = self.metadata
        annotations = metadata.field("annotations") if metadata is not None else None
        value = annotations.field(name) if annotations is not None else None
        return value.value if value is not None else None

    # Changing it

    def _set_meta(self, name: str, value: str) -> None:
        assert self.node is not None
        metadata = lookup(self.node, ["metadata"], create=MAPPING)
        assert metadata is not None
        set_field(metadata, name, scalar(value))

    def set_name(self, name: str) -> None:
        """Set the name."""
        self._set_meta("name", name)

    def set_namespace(self, namespace: str) -> None:
        """Set the namespace, or take it away."""
        if namespace:
            self._set_meta("namespace", namespace)
        elif (metadata := get(self.node, "metadata")) is not None:
            require(metadata, MAPPING)
            metadata.content.pop("namespace", None)

    def set_gvk(self, gvk: Gvk) -> None:
        """Set group, version and kind."""
        assert self.node is not None
        set_field(self.node, "kind", scalar(gvk.kind))
        set_field(self.node, "apiVersion", scalar(gvk.api_version))

    def set_map(self, name: str, values: dict[str, str]) -> None:
        """Set the labels or the annotations; empty ones go."""
        assert self.node is not None
        metadata = lookup(self.node, ["metadata"], create=MAPPING)
        if metadata is None:
            return
        require(metadata, MAPPING)
        if metadata.kind != MAPPING:
            metadata.assign(mapping())
        metadata.content.pop(name, None)
        if values:
            made = mapping()
            for key in sorted(values):
                set_field(made, key, text(values[key]))
            metadata.content[name] = made

    def set_annotation(self, name: str, value: str) -> None:
        """Set one annotation."""
        assert self.node is not None
        metadata = self.node.field("metadata")
        if metadata is not None and metadata.kind == MAPPING:
            existing = metadata.content.get("annotations")
            if existing is not None and not existing.content:
                del metadata.content["annotations"]
        annotations = lookup(self.node, ["metadata", "annotations"], create=MAPPING)
        assert annotations is not None
        set_field(annotations, name, Node(SCALAR, value, "!!str", "'"))

    def _append(self, name: str, value: str) -> None:
        if value:
            current = self.annotation(name)
            self.set_annotation(name, value if current is None else f"{current},{value}")

    def _words(self, name: str) -> list[str]:
        words = self.annotation(name)
        return [] if words is None else words.split(",")

    # Who it was

    @property
    def id(self) -> ResId:
        """Its id as it is now."""
        return ResId(self.gvk, self.name, self.namespace)

    @property
    def previous_ids(self) -> list[ResId]:
        """The ids that it had."""
        names = self.annotation(NAMES)
        if names is None:
            return []
        gvk = self.gvk
        rows = zip(names.split(","), self._words(NAMESPACES), self._words(KINDS), strict=False)
        return [
            ResId(Gvk(gvk.group, gvk.version, kind), name, namespace, scope_known=False)
            for name, namespace, kind in rows
        ]

    @property
    def original_id(self) -> ResId:
        """The first id that it had."""
        previous = self.previous_ids
        return previous[0] if previous else self.id

    @property
    def ids(self) -> list[ResId]:
        """All ids, the present one last."""
        return [*self.previous_ids, self.id]

    def remember(self) -> None:
        """Keep the present id among those that it had."""
        now = self.id
        self._append(NAMES, now.name)
        self._append(NAMESPACES, now.effective_namespace)
        self._append(KINDS, now.gvk.kind)

    @property
    def prefixes(self) -> list[str]:
        """The prefixes that its name got."""
        return self._words(PREFIXES)

    @property
    def suffixes(self) -> list[str]:
        """The suffixes that its name got."""
        return self._words(SUFFIXES)

    def add_affix(self, annotation: str, value: str) -> None:
        """Keep a prefix or suffix that its name gets."""
        self._append(annotation, value)

    def add_referrer(self, referrer: ResId) -> None:
        """Keep who refers to it."""
        self._append(REFERRED, str(referrer))

    def enable(self, annotation: str) -> None:
        """Switch one of the marks of the build on."""
        self.set_map("annotations", {**self.annotations, annotation: ENABLED})

    @property
    def behavior(self) -> str:
        """What a generator does with an object that is there."""
        behavior = self.annotation(BEHAVIOR)
        return behavior if behavior in ("create", "replace", "merge") else "unspecified"

    # The whole of it

    def copy(self) -> Resource:
        """Return a copy that shares nothing."""
        copied = Resource(self.node.copy() if self.node is not None else None)
        copied.variables = list(self.variables)
        return copied

    def value(self) -> Any:
        """Return it as a plain value."""
        return to_value(self.node) if self.node is not None else None

    def patch(self, patch: Resource) -> None:
        """Merge a patch into it; name, kind and namespace stay unless the patch may change them."""
        name, namespace, kind = self.name, self.namespace, self.kind
        name_change = patch.annotation(NAME_CHANGE) == ENABLED
        kind_change = patch.annotation(KIND_CHANGE) == ENABLED
        if name_change or kind_change:
            self.remember()
        self.node = merge(patch.node, self.node)
        if self.is_gone:
            return
        assert self.node is not None
        if not kind_change:
            set_field(self.node, "kind", scalar(kind))
        if not name_change:
            self.set_name(name)
        self.set_namespace(namespace)

    def inherit(self, other: Resource) -> None:
        """Take over labels, annotations, name and namespace of another object; its own labels and annotations win."""
        self.set_map("labels", {**other.labels, **self.labels})
        own, theirs = self.annotations, other.annotations
        merged = {**theirs, **own}
        for name in BUILD_ANNOTATIONS:
            merged.pop(name, None)
            if name in theirs and (name != NEEDS_HASH or name in own):
                merged[name] = theirs[name]
        self.set_map("annotations", merged)
        self.set_name(other.name)
        self.set_namespace(other.namespace)
        self.variables = list(other.variables)
