"""The paths of an Ingress and what is behind them."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks, names

_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_BAD_SEQUENCES = ("//", "/./", "/../", "%2f", "%2F")
_BAD_ENDINGS = ("/..", "/.")


def default(backend: Object) -> None:
    """Fill what is always written."""
    if "service" in backend:
        backend["service"].setdefault("name", "")
        backend["service"].setdefault("port", {})
    if "resource" in backend:
        backend["resource"].setdefault("kind", "")
        backend["resource"].setdefault("name", "")


def validate_path(entry: Object, path: Path, errors: Errors) -> None:
    """Check one path of a rule."""
    kind, text = entry.get("pathType"), entry.get("path", "")
    if kind is None:
        errors.required(path / "pathType", "pathType must be specified")
        return
    if kind not in _PATH_TYPES:
        errors.unsupported(path / "pathType", kind, _PATH_TYPES)
    elif not text.startswith("/") and (text or kind != "ImplementationSpecific"):
        errors.invalid(path / "path", text, "must be an absolute path")
    if kind in ("Exact", "Prefix"):
        for sequence in _BAD_SEQUENCES:
            if sequence in text:
                errors.invalid(path / "path", text, f"must not contain '{sequence}'")
        for ending in _BAD_ENDINGS:
            if text.endswith(ending):
                errors.invalid(path / "path", text, f"cannot end with '{ending}'")
    validate(entry.get("backend", {}), path / "backend", errors)


def validate(backend: Object, path: Path, errors: Errors) -> None:
    """Check that there is one backend, a service or another object of the namespace."""
    if "resource" in backend and "service" in backend:
        errors.invalid(path, "", "cannot set both resource and service backends")
    elif "resource" in backend:
        local_reference(backend["resource"], path / "resource", errors)
    elif "service" in backend:
        _service(backend["service"], path, errors)
    else:
        errors.invalid(path, "", "resource or service backend is required")


def _service(service: Object, path: Path, errors: Errors) -> None:
    name, port = service.get("name", ""), service.get("port", {})
    here = path / "service"
    if not name:
        errors.required(here / "name")
    else:
        checks.name(names.dns_label, name, here / "name", errors)
    port_name, number = port.get("name", ""), port.get("number", 0)
    if port_name and number:
        errors.invalid(path, "", "cannot set both port name & port number")
    elif port_name:
        checks.name(names.port_name, port_name, here / "port" / "name", errors)
    elif number:
        checks.name(names.port_number, number, here / "port" / "number", errors)
    else:
        errors.required(path, "port name or number is required")


def local_reference(reference: Object, path: Path, errors: Errors) -> None:
    """Check a reference to an object: group, kind and name."""
    group = reference.get("apiGroup")
    if group is not None:
        checks.name(names.dns_subdomain, group, path / "apiGroup", errors)
    for key in ("kind", "name"):
        segment(reference.get(key, ""), path / key, errors)


def segment(value: str, path: Path, errors: Errors, required: bool = True) -> None:
    """Check a name that must fit into a URL path."""
    if not value and required:
        errors.required(path)
    elif value:
        checks.name(names.path_segment, value, path, errors)
