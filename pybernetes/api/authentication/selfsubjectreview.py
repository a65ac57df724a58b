"""SelfSubjectReview: who am I?"""

from __future__ import annotations

from pybernetes.api.authentication import GROUP
from pybernetes.api.resource import Resource

RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="SelfSubjectReview",
    plural="selfsubjectreviews",
    namespaced=False,
    verbs=("create",),
)
