"""Names that are kept for configurations which come from files of the API server."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object

_SUFFIX = ".static.k8s.io"
_RESERVED = (
    f'names ending with "{_SUFFIX}" are reserved for static manifest-based configurations '
    "and cannot be managed via the API"
)


def validate_name(obj: Object, errors: Errors) -> None:
    """Refuse a reserved name."""
    name = obj["metadata"].get("name", "")
    if name.endswith(_SUFFIX):
        errors.invalid(Path("metadata") / "name", name, _RESERVED)


def warnings(obj: Object, old: Object | None) -> list[str]:
    """Warn about a reserved name that an object already has."""
    name = obj["metadata"].get("name", "")
    return [f"metadata.name: {_RESERVED}"] if old is not None and name.endswith(_SUFFIX) else []
