"""Evicts pods through the Eviction API, within the limits of the policy."""

from __future__ import annotations

import logging
from collections import Counter

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound, StatusError, TooManyRequests
from pybernetes.client.refs import PODS
from pybernetes.control_plane.descheduler.descheduling import Eviction
from pybernetes.control_plane.descheduler.eviction_requests import TAKEN_UP, EvictionRequests
from pybernetes.control_plane.descheduler.metrics import DeschedulerMetrics
from pybernetes.control_plane.descheduler.plugin import Outcome
from pybernetes.control_plane.descheduler.pod_records import (
    HAS_ENDED,
    IS_DELETING,
    IS_PENDING,
    IS_READY,
    REQUESTS_EVICTION,
    PodRecord,
)
from pybernetes.control_plane.descheduler.policy import Policy
from pybernetes.lib.clock import Clock
from pybernetes.runtime.events import NORMAL, WARNING, SeriesRecorder
from pybernetes.scheduling.disruption_budgets import EvictionBudgets
from pybernetes.scheduling.pods import Pod

log = logging.getLogger(__name__)
GLOBAL_NAME = "sigs.k8s.io/descheduler"
_TOO_MANY_REQUESTS = "error when evicting pod (ignoring)"


class Limits:
    """How many pods a pass may evict: from a node, in a namespace, and altogether, requests under way included."""

    def __init__(self, policy: Policy, requests: EvictionRequests | None = None) -> None:
        self._policy, self._requests = policy, requests
        self._nodes: Counter[str] = Counter()
        self._namespaces: Counter[str] = Counter()
        self.total = 0

    def exceeded(self, pod: Pod) -> tuple[Outcome, str] | None:
        """Return which limit another eviction would exceed, and how an event says so."""
        policy, requests = self._policy, self._requests
        total, on_node, in_namespace = self.total, self._nodes[pod.node], self._namespaces[pod.namespace]
        if requests is not None:
            total += requests.total
            on_node += requests.nodes[pod.node]
            in_namespace += requests.namespaces[pod.namespace]
        if policy.most_in_total is not None and total >= policy.most_in_total:
            return Outcome.TOTAL_LIMIT, f"total eviction limit exceeded ({policy.most_in_total})"
        if policy.most_per_node is not None and on_node >= policy.most_per_node:
            return Outcome.NODE_LIMIT, f"node eviction limit exceeded ({policy.most_per_node})"
        most = policy.most_per_namespace
        if most is not None and in_namespace >= most:
            return Outcome.NAMESPACE_LIMIT, f"namespace eviction limit exceeded ({most})"
        return None

    def count(self, pod: Pod) -> None:
        """Count an eviction."""
        self._nodes[pod.node] += 1
        self._namespaces[pod.namespace] += 1
        self.total += 1


def refusal(budgets: EvictionBudgets, record: PodRecord) -> str:
    """Return what the API server would say to an eviction if it must not be; count it otherwise."""
    guarded = not record.flags & (HAS_ENDED | IS_DELETING | IS_PENDING)
    answer = budgets.evict(record.pod, guarded=guarded, ready=bool(record.flags & IS_READY))
    return "" if answer is None else answer.message


class PodEvictor:
    """Evicts for one pass; ``budgets`` are asked instead of the API server in a dry run.

    With ``requests`` evictions may be taken up by others, who carry them out later.
    """

    def __init__(
        self,
        client: Client,
        policy: Policy,
        metrics: DeschedulerMetrics,
        recorder: SeriesRecorder,
        budgets: EvictionBudgets | None = None,
        requests: EvictionRequests | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._client, self._policy, self._metrics, self._recorder = client, policy, metrics, recorder
        self._budgets, self._requests = budgets, requests
        self._clock = clock or Clock()
        self.limits = Limits(policy, requests)

    async def evict(self, eviction: Eviction) -> Outcome:
        """Evict a pod if limits and budgets allow it."""
        pod = eviction.record.pod
        if self._requests is not None and self._requests.covers(eviction.record):
            return Outcome.REQUESTED
        exceeded = self.limits.exceeded(pod)
        if exceeded is not None:
            outcome, problem = exceeded
        else:
            problem = await self._evict(eviction)
            if problem and self._is_taken_up(eviction, problem):
                return self._request(eviction)
            outcome = Outcome.FAILED if problem else Outcome.EVICTED
        self._metrics.count(outcome.value, eviction.strategy, eviction.profile, pod.namespace, pod.node)
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

    def _is_taken_up(self, eviction: Eviction, problem: str) -> bool:
        """Return whether a refusal says that somebody will see to it that the pod goes."""
        asked = self._requests is not None and bool(eviction.record.flags & REQUESTS_EVICTION)
        return asked and problem.startswith(_TOO_MANY_REQUESTS) and TAKEN_UP in problem

    def _request(self, eviction: Eviction) -> Outcome:
        record, pod = eviction.record, eviction.record.pod
        # Of a pod that has ended nobody can tell when it goes: it would stay a request for ever.
        if self._requests is not None and not record.flags & HAS_ENDED:
            log.info("the eviction of %s from %s by %s is under way", pod.key, pod.node, eviction.strategy)
            self._requests.assume(record, eviction.strategy, eviction.profile, self._clock.monotonic())
            result = Outcome.REQUESTED.value
            self._metrics.count(result, eviction.strategy, eviction.profile, pod.namespace, pod.node)
        return Outcome.REQUESTED

    async def _evict(self, eviction: Eviction) -> str:
        """Return why a pod was not evicted; nothing if it was."""
        pod = eviction.record.pod
        if self._budgets is not None:
            return refusal(self._budgets, eviction.record)
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
            return f'{_TOO_MANY_REQUESTS} "{pod.name}": {error}'
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
