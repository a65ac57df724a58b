"""Which writes a webhook or a policy is about: rules, selectors, and other versions of the same resource."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from pybernetes.api import errors, selectors
from pybernetes.api.resource import Object
from pybernetes.api.reviews import REVIEWS
from pybernetes.control_plane.apiserver.admission.attributes import DELETE, Attributes
from pybernetes.control_plane.apiserver.admission.lookup import Lookup
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.storage.kind import Kind

_REGISTRATION = "admissionregistration.k8s.io"
# What configures admission is not subject to it, so that nobody is locked out.
_EXEMPT = frozenset(
    {
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
        "mutatingwebhookconfigurations",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
        "validatingwebhookconfigurations",
    }
)


class GroupVersionResource(NamedTuple):
    """A resource at a version."""

    group: str
    version: str
    plural: str


def resource_of(attributes: Attributes) -> GroupVersionResource:
    """Return the resource that is written."""
    resource = attributes.resource
    return GroupVersionResource(resource.group, resource.version, resource.plural)


def is_exempt(attributes: Attributes) -> bool:
    """Return whether neither webhooks nor policies are asked about a write."""
    resource = attributes.resource
    return (resource.group == _REGISTRATION and resource.plural in _EXEMPT) or (
        (resource.group, resource.plural) in REVIEWS  # a webhook in their way could lock everybody out
    )


def namespace_of(attributes: Attributes) -> str:
    """Return the namespace of a write; a namespace is in itself."""
    resource = attributes.resource
    if resource.plural == "namespaces" and not resource.group:
        return attributes.name or ((attributes.obj or {}).get("metadata") or {}).get("name", "")
    return attributes.namespace


class Rule:
    """Operations on resources."""

    __slots__ = ("_groups", "_names", "_operations", "_resources", "_scope", "_versions")

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._operations = frozenset(given.get("operations", ()))
        self._groups = frozenset(given.get("apiGroups", ()))
        self._versions = frozenset(given.get("apiVersions", ()))
        self._resources = [text.partition("/")[::2] for text in given.get("resources", ())]
        self._scope = given.get("scope", "*")
        self._names = frozenset(given.get("resourceNames", ()))

    def matches(self, attributes: Attributes, place: GroupVersionResource) -> bool:
        """Return whether a write, seen as one of a place, is meant."""
        operations = self._operations
        return (
            (attributes.operation in operations or "*" in operations)
            and (place.group in self._groups or "*" in self._groups)
            and (place.version in self._versions or "*" in self._versions)
            and any(
                resource in ("*", place.plural) and subresource in ("*", attributes.subresource)
                for resource, subresource in self._resources
            )
            and self._in_scope(attributes, place)
            and (not self._names or attributes.name in self._names)
        )

    def _in_scope(self, attributes: Attributes, place: GroupVersionResource) -> bool:
        if self._scope == "*":
            return True
        cluster = place == ("", "v1", "namespaces") or not attributes.namespace
        return cluster == (self._scope == "Cluster")


class Matcher:
    """All that a webhook, a policy or a binding says about the writes that it is for."""

    def __init__(
        self, given: Mapping[str, Any], rules: Iterable[Mapping[str, Any]], every: bool = False
    ) -> None:
        """Read the rules; ``every`` is for bindings, of which one without rules matches all."""
        self.rules = [Rule(rule) for rule in rules]
        self.excluded = [Rule(rule) for rule in given.get("excludeResourceRules", ())]
        self.equivalent = given.get("matchPolicy", "Equivalent") == "Equivalent"
        self.namespaces = selectors.from_object(given.get("namespaceSelector") or {})
        self.objects = selectors.from_object(given.get("objectSelector") or {})
        self._every = every and not self.rules

    def place(self, attributes: Attributes, match_inputs: MatchInputs) -> GroupVersionResource | None:
        """Return the resource as which a write is matched, or None; StatusError if its namespace is gone."""
        if self.objects and not _selects(self.objects, attributes):
            return None
        place = self._find(attributes, match_inputs)
        if place is None or not self.namespaces:
            return place
        if not namespace_of(attributes) and attributes.resource.plural != "namespaces":
            return place  # what is in no namespace is never exempted by one
        return place if self.namespaces.matches(match_inputs.namespace_labels(attributes)) else None

    def _find(self, attributes: Attributes, match_inputs: MatchInputs) -> GroupVersionResource | None:
        own = resource_of(attributes)
        if self.excluded and self._first(self.excluded, attributes, own, match_inputs) is not None:
            return None
        return own if self._every else self._first(self.rules, attributes, own, match_inputs)

    def _first(
        self, rules: list[Rule], attributes: Attributes, own: GroupVersionResource, match_inputs: MatchInputs
    ) -> GroupVersionResource | None:
        if any(rule.matches(attributes, own) for rule in rules):
            return own
        if not self.equivalent:
            return None
        others = match_inputs.equivalents(own)
        return next((place for rule in rules for place in others if rule.matches(attributes, place)), None)


def _selects(selector: selectors.Selector, attributes: Attributes) -> bool:
    return any(
        obj is not None and selector.matches(obj.get("metadata", {}).get("labels"))
        for obj in (attributes.obj, attributes.old)
    )


class MatchInputs:
    """What matching has to know of the server: namespaces, and versions of the same resource."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._namespaces = Lookup(context, "", "namespaces")
        self._places: dict[GroupVersionResource, tuple[GroupVersionResource, ...]] = {}
        context.kinds.listeners.append(self._places.clear)

    def namespace(self, name: str) -> Object | None:
        """Return a namespace as it is stored."""
        return self._namespaces.get("", name)

    def namespace_labels(self, attributes: Attributes) -> dict[str, str]:
        """Return the labels of the namespace of a write, or of a namespace that is written."""
        name = namespace_of(attributes)
        if attributes.resource.plural == "namespaces" and attributes.operation != DELETE:
            if attributes.obj is not None and not attributes.subresource:
                return attributes.obj["metadata"].get("labels") or {}
        namespace = self.namespace(name)
        if namespace is None:
            raise errors.not_found("", "namespaces", name)
        return namespace["metadata"].get("labels") or {}

    def kind(self, place: GroupVersionResource) -> Kind | None:
        """Return the kind at a place."""
        return self._context.kinds.get(*place)

    def equivalents(self, own: GroupVersionResource) -> tuple[GroupVersionResource, ...]:
        """Return the other places at which the same objects are served."""
        equivalents = self._places.get(own)
        if equivalents is None:
            kind = self.kind(own)
            others = [other.resource for other in self._context.kinds if kind and other.prefix == kind.prefix]
            places = [GroupVersionResource(other.group, other.version, other.plural) for other in others]
            equivalents = self._places[own] = tuple(place for place in places if place != own)
        return equivalents
