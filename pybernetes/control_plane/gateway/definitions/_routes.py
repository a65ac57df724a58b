"""What the kinds of routes have in common: parents, host names, conditions for each parent, and the count of matches."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway.definitions import _schema as schema
from pybernetes.control_plane.gateway.definitions._schema import list_, object_, rule

_MOST_RULES = 16
# Two references to one parent.
_SAME = (
    "p1.group == p2.group && p1.kind == p2.kind && p1.name == p2.name && "
    "(has(p1.__namespace__) ? p1.__namespace__ : '') == (has(p2.__namespace__) ? p2.__namespace__ : '')"
)
_SECTION = "(has({0}.sectionName) ? {0}.sectionName : '')"


def _parent() -> Object:
    fields = schema.reference(schema.GROUP, "Gateway", namespace=schema.NAMESPACE, sectionName=schema.SECTION)
    return object_({**fields, "port": schema.PORT}, "name")


def parents() -> Object:
    """Return the schema of the parents that a route wants to be attached to."""
    one, other = _SECTION.format("p1"), _SECTION.format("p2")
    return list_(_parent(), 32, rules=(
        rule(f"self.all(p1, self.all(p2, ({_SAME}) ? ({one} == '') == ({other} == '') : true))",
             "sectionName must be specified when parentRefs includes 2 or more references to the same parent"),
        rule(f"self.all(p1, self.exists_one(p2, {_SAME} && {one} == {other}))",
             "sectionName must be unique when parentRefs includes 2 or more references to the same parent"),
    ))  # fmt: skip


def route(
    kind: str, fields: Object, *required: str, versions: tuple[str, ...] = ("v1",), hosts: bool = True
) -> Object:
    """Return the definition of a kind of route."""
    entry = object_(
        {"parentRef": _parent(), "controllerName": schema.CONTROLLER, "conditions": schema.conditions(least=1)},
        "conditions", "controllerName", "parentRef",
    )  # fmt: skip
    names = {"hostnames": list_(schema.HOSTNAME, 16)} if hosts else {}
    parts = {
        "spec": object_({"parentRefs": parents(), **names, **fields}, *required),
        "status": object_({"parents": list_(entry, 32)}, "parents"),
    }
    columns = (("Hostnames", ".spec.hostnames"),) if hosts else ()
    return schema.definition(kind, parts, versions=versions, columns=columns)


def rules(properties: Object, *validations: Object, **more: Any) -> Object:
    """Return the schema of the rules of a route, which have at most 128 matches together."""
    counts = (
        f"(self.size() > {number} && has(self[{number}].matches) ? self[{number}].matches.size() : 0)"
        for number in range(_MOST_RULES)
    )
    most = rule(
        f"{' + '.join(counts)} <= 128",
        "While 16 rules and 64 matches per rule are allowed, the total number of matches across all rules in a route must "
        "be less than 128",
    )
    return list_(
        object_({"name": schema.SECTION, **properties}, rules=validations), _MOST_RULES, rules=(most,), **more
    )


def header_matches(most: int = 4096) -> Object:
    """Return the schema of what headers, or parameters of a query, have to be."""
    kind = schema.one_of("Exact", "RegularExpression", default="Exact")
    value = schema.text(most)
    match = object_({"type": kind, "name": schema.HEADER_NAME, "value": value}, "name", "value")
    return list_(match, 16, keys=("name",))
