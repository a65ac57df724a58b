"""IngressClass: which controller serves the ingresses of a class."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.networking import _backends
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import AGE, get
from pybernetes.api.validation import checks, meta, names
from pybernetes.api.validation.domains import domain_prefixed_path

_SPEC = Path("spec")
_MAX_CONTROLLER = 250
_SCOPES = ("Cluster", "Namespace")


def default(obj: Object) -> None:
    """Let parameters be cluster-scoped, unless told otherwise."""
    parameters = obj.setdefault("spec", {}).get("parameters")
    if parameters is not None:
        parameters.setdefault("kind", "")
        parameters.setdefault("name", "")
        parameters.setdefault("scope", "Cluster")


def validate(obj: Object, errors: Errors) -> None:
    """Check the controller's name and the reference to parameters."""
    spec = obj.get("spec", {})
    controller = spec.get("controller", "")
    if len(controller.encode()) > _MAX_CONTROLLER:
        errors.too_long(_SPEC / "controller", _MAX_CONTROLLER)
    domain_prefixed_path(controller, _SPEC / "controller", errors)
    if "parameters" in spec:
        _parameters(spec["parameters"], _SPEC / "parameters", errors)


def _parameters(parameters: Object, path: Path, errors: Errors) -> None:
    _backends.local_reference(parameters, path, errors)
    scope, namespace = parameters.get("scope"), parameters.get("namespace")
    if scope is None:
        errors.required(path / "scope")
    elif scope not in _SCOPES:
        errors.unsupported(path / "scope", scope, _SCOPES)
    elif scope == "Cluster":
        if namespace is not None:
            errors.forbidden(path / "namespace", "`parameters.scope` is set to 'Cluster'")
    elif namespace is None:
        errors.required(path / "namespace", "`parameters.scope` is set to 'Namespace'")
    else:
        checks.name(names.dns_label, namespace, path / "namespace", errors)


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that the class stays with its controller."""
    after, before = get(new, ".spec.controller", ""), get(old, ".spec.controller", "")
    meta.immutable(after, before, _SPEC / "controller", errors)


def _name(obj: Object, now: float) -> str:
    notes = obj["metadata"].get("annotations", {})
    chosen = notes.get("ingressclass.kubernetes.io/is-default-class") == "true"
    return obj["metadata"].get("name", "") + (" (default)" if chosen else "")


def _reference(obj: Object, now: float) -> str:
    parameters = get(obj, ".spec.parameters")
    if parameters is None:
        return "<none>"
    group = f".{parameters['apiGroup']}" if "apiGroup" in parameters else ""
    return f"{parameters.get('kind', '')}{group}/{parameters.get('name', '')}"


RESOURCE = Resource(
    group="networking.k8s.io",
    version="v1",
    kind="IngressClass",
    plural="ingressclasses",
    namespaced=False,
    generation=True,
    columns=(
        Column("Name", _name, format="name"),
        Column("Controller", lambda obj, now: get(obj, ".spec.controller", "")),
        Column("Parameters", _reference),
        AGE,
    ),
    default=default,
    validate=validate,
    validate_update=validate_update,
)
