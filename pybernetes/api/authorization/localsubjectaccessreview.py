"""LocalSubjectAccessReview: may this user do that in this namespace?"""

from __future__ import annotations

from pybernetes.api.authorization import GROUP, _access
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object, Resource

_SPEC = Path("spec")


def validate(obj: Object, errors: Errors) -> None:
    """Check the question, which is about the namespace of the review."""
    spec = obj.get("spec", {})
    _access.validate_attributes(spec, errors)
    _access.validate_user(spec, errors)
    _access.validate_selectors(spec, errors)
    _access.validate_metadata(obj, ("namespace",), "must be empty except for namespace", errors)
    if "resourceAttributes" in spec:
        namespace = spec["resourceAttributes"].get("namespace", "")
        if namespace != obj["metadata"].get("namespace", ""):
            path = _SPEC / "resourceAttributes" / "namespace"
            errors.invalid(path, namespace, "must match metadata.namespace")
    if "nonResourceAttributes" in spec:
        value = _access.shown(spec["nonResourceAttributes"])
        errors.invalid(_SPEC / "nonResourceAttributes", value, "disallowed on this kind of request")


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="LocalSubjectAccessReview",
    plural="localsubjectaccessreviews",
    verbs=("create",),
    validate=validate,
)
