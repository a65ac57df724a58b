"""Evicts pods through the Eviction API, within the limits of the policy."""

from __future__ import annotations

import logging
from collections import Counter

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound, StatusError, TooManyRequests
from pybernetes.client.refs import PODS
from pybernetes.control_plane.descheduler.budgets import Budgets
from pybernetes.control_plane.descheduler.descheduling import Eviction
from pybernetes.control_plane.descheduler.metrics import DeschedulerMetrics
from pybernetes.control_plane.descheduler.plugin import Outcome
from pybernetes.control_plane.descheduler.policy import Policy
from pybernetes.runtime.events import NORMAL, WARNING, SeriesRecorder
from pybernetes.scheduling.pods import Pod

log = logging.getLogger(__name__)
GLOBAL_NAME = "sigs.k8s.io/descheduler"


class Limits:
    """How many pods a pass may evict: from a node, in a namespace, and altogether."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._nodes: Counter[str] = Counter()
        self._namespaces: Counter[str] = Counter()
        self.total = 0

    def exceeded(self, pod: Pod) -> tuple[Outcome, str] | None:
        """Return which limit another eviction would exceed, and how an event says so."""
        policy = self._policy
        if policy.most_in_total is not None and self.total >= policy.most_in_total:
            return Outcome.TOTAL_LIMIT, f"total eviction limit exceeded ({policy.most_in_total})"
        if policy.most_per_node is not None and self._nodes[pod.node] >= policy.most_per_node:
            return Outcome.NODE_LIMIT, f"node eviction limit exceeded ({policy.most_per_node})"
        most = policy.most_per_namespace
        if most is not None and self._namespaces[pod.namespace] >= most:
            return Outcome.NAMESPACE_LIMIT, f"namespace eviction limit exceeded ({most})"
        return None

    def count(self, pod: Pod) -> None:
        """Count an eviction."""
        self._nodes[pod.node] += 1
        self._namespaces[pod.namespace] += 1
        self.total += 1


class PodEvictor:
    """Evicts for one pass; ``budgets`` are asked instead of the API server in a dry run."""

    def __init__(
        self,
        client: Client,
        policy: Policy,
        metrics: DeschedulerMetrics,
        recorder: SeriesRecorder,
        budgets: Budgets | None = None,
    ) -> None:
        self._client, self._policy, self._metrics, self._recorder = client, policy, metrics, recorder
        self._budgets = budgets
        self.limits = Limits(policy)

    async def evict(self, eviction: Eviction) -> Outcome:
        """Evict a pod if limits and budgets allow it."""
        pod = eviction.record.pod
        exceeded = self.limits.exceeded(pod)
        if exceeded is not None:
            outcome, problem = exceeded
        else:
            problem = await self._evict(eviction)
            outcome = Outcome.FAILED if problem else Outcome.EVICTED
        labels = (outcome.value, eviction.strategy, eviction.profile, pod.namespace, pod.node)
        self._metrics.evicted[labels] += 1
        if problem:
            log.info("%s is not evicted from %s by %s: %s", pod.key, pod.node, eviction.strategy, problem)
            if self._policy.reports_failures:
                text = f"pod eviction from {pod.node} node by {GLOBAL_NAME} failed: {problem}"
                self._report(pod, WARNING, "EvictionFailed", text)
            return outcome
        self.limits.count(pod)
        dry = self._budgets is not None
        log.info(
            "%s%s from %s by %s", "would evict " if dry else "evicted ", pod.key, pod.node, eviction.strategy
        )
        self._report(pod, NORMAL, eviction.strategy, f"pod eviction from {pod.node} node by {GLOBAL_NAME}")
        return outcome

    async def _evict(self, eviction: Eviction) -> str:
        """Return why a pod was not evicted; nothing if it was."""
        if self._budgets is not None:
            return self._budgets.take(eviction.record)
        pod = eviction.record.pod
        # The pod that was decided about, not another of its name that has come since.
        options: Object = {"preconditions": {"uid": pod.uid}}
        if self._policy.grace_period_seconds is not None:
            options["gracePeriodSeconds"] = self._policy.grace_period_seconds
        reason = f"triggered by {eviction.profile}/{eviction.strategy}: "
        body: Object = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {
                "name": pod.name,
                "namespace": pod.namespace,
                "annotations": {"reason": reason, "requested-by": GLOBAL_NAME},
            },
            "deleteOptions": options,
        }
        try:
            await self._client.create(PODS, body, pod.namespace, name=pod.name, subresource="eviction")
        except TooManyRequests as error:
            return f'error when evicting pod (ignoring) "{pod.name}": {error}'
        except NotFound as error:
            return f'pod not found when evicting "{pod.name}": {error}'
        except (StatusError, OSError, TimeoutError) as error:
            return str(error)
        return ""

    def _report(self, pod: Pod, sort: str, reason: str, text: str) -> None:
        if self._budgets is None:
            meta = {
                "namespace": pod.namespace,
                "name": pod.name,
                "uid": pod.uid,
                "resourceVersion": pod.version,
            }
            about: Object = {"kind": "Pod", "apiVersion": "v1", "metadata": meta}
            self._recorder.event(about, sort, reason, "Descheduled", text)
