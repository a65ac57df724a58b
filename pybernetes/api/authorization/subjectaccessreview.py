"""SubjectAccessReview: may this user do that?"""

from __future__ import annotations

from pybernetes.api.authorization import GROUP, _access
from pybernetes.api.field import Errors
from pybernetes.api.resource import Object, Resource


def validate(obj: Object, errors: Errors) -> None:
    """Check the question."""
    spec = obj.get("spec", {})
    _access.validate_attributes(spec, errors)
    _access.validate_user(spec, errors)
    _access.validate_selectors(spec, errors)
    _access.validate_metadata(obj, (), "must be empty", errors)


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="SubjectAccessReview",
    plural="subjectaccessreviews",
    namespaced=False,
    verbs=("create",),
    validate=validate,
)
