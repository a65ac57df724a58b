"""SelfSubjectRulesReview: what may I do in this namespace?"""

from __future__ import annotations

from pybernetes.api.authorization import GROUP
from pybernetes.api.resource import Resource

RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="SelfSubjectRulesReview",
    plural="selfsubjectrulesreviews",
    namespaced=False,
    verbs=("create",),
)
