"""The evaluator of every resource: a few measure, all others count."""

from __future__ import annotations

from pybernetes.api.quota.evaluator import Evaluator
from pybernetes.api.quota.persistent_volume_claims import VolumeClaimEvaluator
from pybernetes.api.quota.pods import PodEvaluator
from pybernetes.api.quota.resource_claims import Cluster, ResourceClaimEvaluator
from pybernetes.api.quota.services import ServiceEvaluator
from pybernetes.api.reviews import REVIEWS

# What quotas never look at: objects that are not stored, and events.
IGNORED = REVIEWS | frozenset(
    {
        ("", "bindings"),
        ("", "componentstatuses"),
        ("", "events"),
        ("events.k8s.io", "events"),
    }
)
# Resources that quotas could count by a plain name before there was count/….
_ALIASED = ("configmaps", "replicationcontrollers", "resourcequotas", "secrets")


class Evaluators:
    """Evaluators by group and plural."""

    def __init__(self, cluster: Cluster) -> None:
        special: list[Evaluator] = [
            PodEvaluator(),
            ServiceEvaluator(),
            VolumeClaimEvaluator(),
            ResourceClaimEvaluator(cluster),
        ]
        special += [Evaluator("", plural, plural) for plural in _ALIASED]
        self._special: dict[tuple[str, str], Evaluator] = {
            (evaluator.group, evaluator.plural): evaluator for evaluator in special
        }

    def get(self, group: str, plural: str) -> Evaluator | None:
        """Return the evaluator of a resource, or None if quotas ignore it."""
        key = (group, plural)
        if key in IGNORED:
            return None
        # Those that only count are made anew each time: custom resources come and go.
        return self._special.get(key) or Evaluator(group, plural)

    def measuring(self) -> list[Evaluator]:
        """Return the evaluators that do more than to count."""
        return list(self._special.values())
