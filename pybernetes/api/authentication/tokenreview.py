"""TokenReview: whose token is this?"""

from __future__ import annotations

from pybernetes.api.authentication import GROUP
from pybernetes.api.resource import Resource

RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="TokenReview",
    plural="tokenreviews",
    namespaced=False,
    verbs=("create",),
)
