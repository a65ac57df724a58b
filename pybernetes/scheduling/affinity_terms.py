"""What pods say about nodes and about one another: selectors, taints and tolerations, affinity terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import orjson

from pybernetes.api import selectors
from pybernetes.api.resource import Object
from pybernetes.api.selectors import Requirement, Selector

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
NO_SCHEDULE, NO_EXECUTE, PREFER_NO_SCHEDULE = "NoSchedule", "NoExecute", "PreferNoSchedule"

_OPERATORS = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!", "Gt": "gt", "Lt": "lt"}


class Taint(NamedTuple):
    """A taint of a node."""

    key: str
    value: str
    effect: str


class Toleration(NamedTuple):
    """A toleration of a pod."""

    key: str
    operator: str
    value: str
    effect: str

    def tolerates(self, taint: Taint) -> bool:
        """Return whether a pod with it may be on a node with the taint."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        if self.operator in ("", "Equal"):
            return self.value == taint.value
        return self.operator == "Exists"


UNSCHEDULABLE = Taint("node.kubernetes.io/unschedulable", "", NO_SCHEDULE)


def taints_of(spec: Object) -> tuple[Taint, ...]:
    """Return the taints of a node's spec."""
    return tuple(
        Taint(taint.get("key", ""), taint.get("value", ""), taint.get("effect", ""))
        for taint in spec.get("taints") or ()
    )


def tolerations_of(spec: Object) -> tuple[Toleration, ...]:
    """Return the tolerations of a pod's spec."""
    return tuple(
        Toleration(
            toleration.get("key", ""),
            toleration.get("operator", ""),
            toleration.get("value", ""),
            toleration.get("effect", ""),
        )
        for toleration in spec.get("tolerations") or ()
    )


def is_tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    """Return whether any of the tolerations covers the taint."""
    return any(toleration.tolerates(taint) for toleration in tolerations)


class NodeTerm(NamedTuple):
    """One term of a node selector: conditions on labels and on the node's name, all of which must hold."""

    requirements: tuple[Requirement, ...]
    names: tuple[tuple[str, bool], ...]  # pairs of a name and whether it must be that name

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Return whether a node meets the term; without a name the conditions on it are not looked at."""
        if not all(requirement.matches(labels) for requirement in self.requirements):
            return False
        return not name or all((name == given) is equal for given, equal in self.names)


def node_term(term: Object) -> NodeTerm | None:
    """Parse a node selector term; return None if it selects nothing because it is empty or invalid."""
    requirements: list[Requirement] = []
    names: list[tuple[str, bool]] = []
    for expression in term.get("matchExpressions") or ():
        operator = _OPERATORS.get(expression.get("operator", ""))
        if operator is None:
            return None
        requirements.append(
            Requirement(expression.get("key", ""), operator, tuple(expression.get("values") or ()))
        )
    for expression in term.get("matchFields") or ():
        values: list[str] = expression.get("values") or []
        if expression.get("operator") not in ("In", "NotIn") or len(values) != 1:
            return None
        names.append((values[0], expression["operator"] == "In"))
    if not requirements and not names:
        return None
    return NodeTerm(tuple(requirements), tuple(names))


def node_terms(selector: Object) -> tuple[NodeTerm, ...]:
    """Return the terms of a node selector, any of which is enough."""
    terms = (node_term(term) for term in selector.get("nodeSelectorTerms") or ())
    return tuple(term for term in terms if term is not None)


class NodeAffinity:
    """Which nodes a pod may be on, and which it prefers."""

    __slots__ = ("__weakref__", "names", "preferred", "required", "selector")

    def __init__(self, node_selector: Mapping[str, str], affinity: Object) -> None:
        self.selector = tuple(
            Requirement(key, "in", (value,)) for key, value in sorted(node_selector.items())
        )
        required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
        # None: every node will do; empty: none will.
        self.required: tuple[NodeTerm, ...] | None = None if required is None else node_terms(required)
        self.preferred: tuple[tuple[int, NodeTerm], ...] = preferred_node_terms(affinity)
        self.names = None if required is None else _names_of(required)

    @property
    def restricts(self) -> bool:
        """Whether there is anything that a node must have."""
        return bool(self.selector) or self.required is not None

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Return whether a pod may be on a node."""
        if not all(requirement.matches(labels) for requirement in self.selector):
            return False
        return self.required is None or any(term.matches(name, labels) for term in self.required)


def preferred_node_terms(affinity: Object) -> tuple[tuple[int, NodeTerm], ...]:
    """Return the preferred terms of a node affinity with their weights."""
    preferred = []
    for preference in affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ():
        term = node_term(preference.get("preference") or {})
        if term is not None and preference.get("weight"):
            preferred.append((preference["weight"], term))
    return tuple(preferred)


def _names_of(selector: Object) -> frozenset[str] | None:
    """Return the only nodes that can match, if every term names some; an empty set if the terms contradict."""
    terms = selector.get("nodeSelectorTerms") or ()
    if not terms:
        return None
    names: set[str] = set()
    for term in terms:
        mine: set[str] | None = None
        for expression in term.get("matchFields") or ():
            if expression.get("key") == "metadata.name" and expression.get("operator") == "In":
                values = set(expression.get("values") or ())
                mine = values if mine is None else mine & values
        if mine is None:
            return None
        names |= mine
    return frozenset(names)


class PodTerm(NamedTuple):
    """A term of a pod affinity: pods of some namespaces with some labels, and what "near" means."""

    namespaces: frozenset[str]
    namespace_selector: Selector
    selector: Selector
    topology_key: str
    text: bytes  # what it was made of, which is what makes two terms the same

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PodTerm) and self.text == other.text

    def __ne__(self, other: object) -> bool:
        return not self == other

    def matches(
        self, namespace: str, namespace_labels: Mapping[str, str] | None, labels: Mapping[str, str]
    ) -> bool:
        """Return whether the term is about a pod with these labels in a namespace."""
        if namespace not in self.namespaces and not self.namespace_selector.matches(namespace_labels):
            return False
        return self.selector.matches(labels)

    @property
    def selects_namespaces(self) -> bool:
        """Whether the namespaces are found by labels that can change."""
        return bool(self.namespace_selector.requirements)


def pod_term(term: Object, namespace: str) -> PodTerm:
    """Parse an affinity term that a pod of a namespace has."""
    namespaces = term.get("namespaces") or ()
    selector = term.get("namespaceSelector")
    if not namespaces and selector is None:
        namespaces = (namespace,)
    text = orjson.dumps(
        [sorted(namespaces), selector, term.get("labelSelector"), term.get("topologyKey")],
        option=orjson.OPT_SORT_KEYS,
    )
    return PodTerm(
        frozenset(namespaces),
        selectors.from_object(selector),
        selectors.from_object(term.get("labelSelector")),
        term.get("topologyKey", ""),
        text,
    )


class PodAffinity:
    """Which pods a pod must, must not, prefers to and prefers not to be near."""

    __slots__ = ("__weakref__", "affinity", "anti", "preferred")

    def __init__(self, affinity: Object, namespace: str) -> None:
        near, apart = affinity.get("podAffinity") or {}, affinity.get("podAntiAffinity") or {}
        required, preferred = (
            "requiredDuringSchedulingIgnoredDuringExecution",
            "preferredDuringSchedulingIgnoredDuringExecution",
        )
        self.affinity = tuple(pod_term(term, namespace) for term in near.get(required) or ())
        self.anti = tuple(pod_term(term, namespace) for term in apart.get(required) or ())
        # Pairs of weight and term; what a pod would rather not be near to has a negative weight.
        self.preferred = tuple(
            (sign * weighted.get("weight", 0), pod_term(weighted.get("podAffinityTerm") or {}, namespace))
            for sign, side in ((1, near), (-1, apart))
            for weighted in side.get(preferred) or ()
        )


class SpreadConstraint(NamedTuple):
    """A constraint on how evenly pods of a kind are spread over the values of a node label."""

    max_skew: int
    topology_key: str
    selector: Selector
    min_domains: int
    honors_affinity: bool
    honors_taints: bool
    hard: bool
    text: str  # the selector, which is what makes two the same

    def __hash__(self) -> int:
        return hash((self.topology_key, self.text, self.hard))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SpreadConstraint) and self._identity() == other._identity()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def _identity(self) -> tuple[Any, ...]:
        return (*self[:2], *self[3:])


def spread_constraint(
    fields: Object, labels: Mapping[str, str], selector: Selector | None = None
) -> SpreadConstraint:
    """Parse a spread constraint of a pod with some labels; ``selector`` replaces the constraint's own."""
    if selector is None:
        selector = selectors.from_object(fields.get("labelSelector"))
        keys = fields.get("matchLabelKeys") or ()
        same = tuple(Requirement(key, "in", (labels[key],)) for key in keys if key in labels)
        if same and selector is not selectors.NOTHING:
            selector = Selector(same + selector.requirements)
    return SpreadConstraint(
        fields.get("maxSkew", 1),
        fields.get("topologyKey", ""),
        selector,
        fields.get("minDomains") or 1,
        fields.get("nodeAffinityPolicy", "Honor") == "Honor",
        fields.get("nodeTaintsPolicy", "Ignore") == "Honor",
        fields.get("whenUnsatisfiable", "DoNotSchedule") == "DoNotSchedule",
        "nothing" if selector is selectors.NOTHING else str(selector),
    )
