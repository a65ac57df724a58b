"""What expressions of webhooks and policies see of a write, and what mutations may make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from pybernetes.api.cel import types
from pybernetes.api.cel.engine import CelError, Environment, Program
from pybernetes.api.cel.runtime import Moment
from pybernetes.api.cel.types import BOOL, DYN, INT, STRING, TIMESTAMP, Type

if TYPE_CHECKING:
    from pybernetes.api.resource import Object

_AUTHORIZER = types.opaque("kubernetes.authorization.Authorizer")
_RESOURCE_CHECK = types.opaque("kubernetes.authorization.ResourceCheck")
REQUEST_RESOURCE = "authorizer.requestResource"
OBJECT = types.Type("object", (), "Object")
JSON_PATCH = types.object_of("JSONPatch", {"op": STRING, "path": STRING, "from": STRING, "value": DYN})


def _object(name: str, /, **fields: Type) -> Type:
    return types.object_of(f"kubernetes.{name}", fields)


def _moment(value: Any) -> Any:
    try:
        return Moment.parse(value)
    except (ValueError, TypeError):
        return value


@cache
def request_type() -> Type:
    """Return the type of ``request``."""
    kind = _object("GroupVersionKind", group=STRING, version=STRING, kind=STRING)
    resource = _object("GroupVersionResource", group=STRING, version=STRING, resource=STRING)
    strings = types.list_of(STRING)
    user = _object(
        "UserInfo", username=STRING, uid=STRING, groups=strings, extra=types.map_of(STRING, strings)
    )
    return _object(
        "AdmissionRequest", kind=kind, resource=resource, subResource=STRING, requestKind=kind,
        requestResource=resource, requestSubResource=STRING, name=STRING, namespace=STRING, operation=STRING,
        userInfo=user, dryRun=BOOL, options=DYN,
    )  # fmt: skip


@cache
def namespace_type() -> Type:
    """Return the type of ``namespaceObject``."""
    strings, texts = types.list_of(STRING), types.map_of(STRING, STRING)
    metadata = _object(
        "NamespaceMetadata", name=STRING, generateName=STRING, namespace=STRING, labels=texts, annotations=texts,
        UID=STRING, creationTimestamp=TIMESTAMP, deletionGracePeriodSeconds=INT, deletionTimestamp=TIMESTAMP,
        generation=INT, resourceVersion=STRING, finalizers=strings,
    )  # fmt: skip
    metadata.access = {
        "UID": ("uid", None),
        "creationTimestamp": ("creationTimestamp", _moment),
        "deletionTimestamp": ("deletionTimestamp", _moment),
    }
    condition = _object(
        "NamespaceCondition",
        status=STRING,
        type=STRING,
        lastTransitionTime=TIMESTAMP,
        message=STRING,
        reason=STRING,
    )
    condition.access = {"lastTransitionTime": ("lastTransitionTime", _moment)}
    status = _object("NamespaceStatus", conditions=types.list_of(condition), phase=STRING)
    return _object(
        "Namespace", metadata=metadata, spec=_object("NamespaceSpec", finalizers=strings), status=status
    )


def namespace_object(namespace: Mapping[str, Any] | None) -> Object | None:
    """Return a namespace without what expressions do not see of it."""
    if namespace is None:
        return None
    kept = {"name", "generateName", "labels", "annotations", "uid", "creationTimestamp", "generation",
            "deletionGracePeriodSeconds", "deletionTimestamp", "resourceVersion", "finalizers"}  # fmt: skip
    metadata = {key: value for key, value in namespace["metadata"].items() if key in kept}
    return {"metadata": metadata, "spec": namespace.get("spec", {}), "status": namespace.get("status", {})}


class PatchTypes(Mapping[str, Type]):
    """The objects that a mutation may make: JSONPatch, Object, and Object with the names of fields."""

    def __getitem__(self, name: str) -> Type:
        if name == "JSONPatch":
            return JSON_PATCH
        if name == "Object":
            return OBJECT
        if name.startswith("Object."):
            return types.Type("object", (), name)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(("JSONPatch", "Object"))

    def __len__(self) -> int:
        return 2


_PATCHES = PatchTypes()


def environment(
    *,
    params: Type | None = None,
    authorizer: bool = True,
    variables: Type | None = None,
    patches: bool = False,
    object_: Type = DYN,
) -> Environment:
    """Return the environment of expressions; ``params`` is the type of the parameters, if there are any."""
    names: dict[str, Type | str] = {
        "object": object_, "oldObject": object_, "request": request_type(), "namespaceObject": namespace_type(),
    }  # fmt: skip
    if params is not None:
        names["params"] = params
    if authorizer:
        names["authorizer"] = _AUTHORIZER
        names[REQUEST_RESOURCE] = _RESOURCE_CHECK
    if variables is not None:
        names["variables"] = variables
    return Environment(names, _PATCHES if patches else None)


def compile_expression(source: str, where: Environment, returns: Iterable[Type] = ()) -> Program:
    """Compile an expression that gives one of some types; raise CelError in upstream's words."""
    try:
        program = where.compile(source)
    except CelError as error:
        raise CelError(f"compilation failed: {error}") from None
    wanted = list(returns)
    if wanted and program.type not in wanted:
        if len(wanted) == 1:
            raise CelError(f"must evaluate to {wanted[0]} but got {program.type}")
        listed = " ".join(map(str, wanted))
        raise CelError(f"must evaluate to one of [{listed}] but got {program.type}")
    return program


class Variables:
    """The variables of a policy: each sees those before it."""

    def __init__(self, given: Iterable[Mapping[str, Any]], **how: Any) -> None:
        """Compile the variables; ``how`` is what ``environment`` takes."""
        self.type = types.object_of("kubernetes.variables", {})
        self.programs: dict[str, Program] = {}
        self.errors: dict[str, str] = {}
        for variable in given:
            where = environment(**how, variables=self.snapshot())
            try:
                program = compile_expression(variable["expression"], where)
            except CelError as error:
                self.errors[variable["name"]] = str(error)
                self.add(variable["name"], DYN)
            else:
                self.programs[variable["name"]] = program
                self.add(variable["name"], program.type)

    def add(self, name: str, type_: Type) -> None:
        """Make a variable known to those that come later."""
        assert self.type.fields is not None
        self.type.fields[name] = type_

    def snapshot(self) -> Type:
        """Return the type of all variables so far."""
        assert self.type.fields is not None
        return types.object_of("kubernetes.variables", dict(self.type.fields))


CONDITION = (BOOL,)
MESSAGE = (STRING,)
ANNOTATION = (STRING, types.NULL)
APPLY = (OBJECT,)
PATCH = (types.list_of(JSON_PATCH),)
