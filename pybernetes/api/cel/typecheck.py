"""Check the expressions of a policy against the types of the objects that it is about.

At run time objects are dynamic, since one policy may be about many kinds; what is found here are warnings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from pybernetes.api import schema
from pybernetes.api.cel import admission, types, values
from pybernetes.api.cel.engine import CelError
from pybernetes.api.cel.types import DYN, Type

_MOST = 10
_SCALARS = {
    "string": types.STRING, "integer": types.INT, "number": types.DOUBLE, "boolean": types.BOOL,
    "bytes": types.BYTES, "time": types.TIMESTAMP, "microtime": types.TIMESTAMP,
}  # fmt: skip


class Kind(NamedTuple):
    """A kind at a version."""

    group: str
    version: str
    kind: str

    def __str__(self) -> str:
        return f"{self.group}/{self.version}, Kind={self.kind}"


class _Fields(dict[str, Type]):
    """The fields of a built-in type, each looked at when an expression names it (types can contain themselves)."""

    def __init__(self, source: Mapping[str, schema.Type]) -> None:
        super().__init__()
        self._source = {values.escape(name) or name: name for name in source}
        self._types = source

    def __contains__(self, name: object) -> bool:
        return name in self._source

    def __missing__(self, name: str) -> Type:
        self[name] = made = of_type(self._types[self._source[name]])
        return made


def of_type(type_: schema.Type) -> Type:
    """Return a built-in type as expressions see it."""
    if type_.kind == "struct":
        return types.object_of(type_.name or "object", _Fields(type_.fields))
    if type_.kind == "map":
        return types.map_of(types.STRING, of_type(type_.item) if type_.item is not None else DYN)
    if type_.kind == "list":
        return types.list_of(of_type(type_.item) if type_.item is not None else DYN)
    return _SCALARS.get(type_.kind, DYN)


def of_schema(given: Mapping[str, Any]) -> Type | None:
    """Return a custom resource as expressions see it, from its published schema."""
    declared = values.declare(dict(given), root=True)
    if declared is None or declared.type.fields is None:
        return None
    meta = of_type(schema.named("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"))
    declared.type.fields["metadata"] = meta
    return declared.type


# The kinds of a resource, and the type of a kind, or None if it is not known.
KindsOf = Callable[[str, str, str], Iterable[Kind]]
TypeOf = Callable[[Kind], "Type | None"]


def matched_kinds(spec: Mapping[str, Any], kinds_of: KindsOf) -> list[Kind]:
    """Return the kinds that the rules of a policy name one by one."""
    kinds: set[Kind] = set()
    for rule in spec.get("matchConstraints", {}).get("resourceRules", ()):
        groups, versions = rule.get("apiGroups", ()), rule.get("apiVersions", ())
        if any("*" in name for name in (*groups, *versions)):
            continue
        resources = [name for name in rule.get("resources", ()) if "*" not in name and "/" not in name]
        for group in sorted(groups):
            for version in sorted(versions):
                for resource in sorted(resources):
                    kinds.update(kinds_of(group, version, resource))
    return sorted(kinds)[:_MOST]


def warnings(policy: Mapping[str, Any], kinds_of: KindsOf, type_of: TypeOf) -> list[dict[str, str]]:
    """Return what does not fit the types, as entries of a policy's status."""
    spec = policy["spec"]
    typed = [
        (kind, kind_type)
        for kind in matched_kinds(spec, kinds_of)
        if (kind_type := type_of(kind)) is not None
    ]
    params = _params(spec, type_of)
    told = []
    for field, expression in _expressions(spec):
        text = "\n".join(
            f"{kind}: {problem}\n"
            for kind, type_ in typed
            if (problem := _problem(expression, spec, type_, params))
        )
        if text:
            told.append({"fieldRef": field, "warning": text})
    return told


def _params(spec: Mapping[str, Any], type_of: TypeOf) -> Type | None:
    wanted = spec.get("paramKind")
    if wanted is None:
        return None
    group, _, version = wanted["apiVersion"].rpartition("/")
    return type_of(Kind(group, version, wanted["kind"])) or DYN


def _expressions(spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for index, validation in enumerate(spec.get("validations", ())):
        yield f"spec.validations[{index}].expression", validation["expression"]
        if validation.get("messageExpression"):
            yield f"spec.validations[{index}].messageExpression", validation["messageExpression"]


def _problem(expression: str, spec: Mapping[str, Any], type_: Type, params: Type | None) -> str:
    how: dict[str, Any] = {"params": params, "object_": type_}
    variables = admission.Variables(spec.get("variables", ()), **how)
    try:
        admission.environment(**how, variables=variables.type).compile(expression)
    except CelError as error:
        return str(error)
    return ""
