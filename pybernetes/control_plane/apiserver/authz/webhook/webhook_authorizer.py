"""The authorizer that asks another server, and remembers what it said."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import orjson

from pybernetes.api.cel.engine import CelError, Program
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.authz.verdict import NO_OPINION, Rules, Verdict
from pybernetes.control_plane.apiserver.authz.webhook import access_review, match_conditions
from pybernetes.control_plane.apiserver.authz.webhook.metrics import WebhookAuthorizationMetrics
from pybernetes.control_plane.apiserver.request_info import RequestInfo
from pybernetes.control_plane.apiserver.review_webhooks.reviewer import Reviewer, ReviewFailed
from pybernetes.lib.memory.expiring_cache import ExpiringCache

log = logging.getLogger(__name__)
_MOST_BYTES = 8 << 20  # of answers that are remembered
_BOTH = "webhook subject access review returned both allow and deny response"


class WebhookAuthorizer:
    """One webhook. ``denies`` says what becomes of questions that it gives no answer to."""

    def __init__(
        self,
        reviewer: Reviewer,
        metrics: WebhookAuthorizationMetrics,
        *,
        webhook: str = "default",
        authorized_seconds: float = 300.0,
        unauthorized_seconds: float = 30.0,
        denies: bool = False,
        conditions: Sequence[Program] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = "Webhook"
        self._reviewer, self._metrics, self.webhook = reviewer, metrics, webhook
        self._seconds = {True: authorized_seconds, False: unauthorized_seconds}
        self._denies, self._conditions, self._clock = denies, tuple(conditions), clock
        self._answers: ExpiringCache[Verdict] = ExpiringCache(_MOST_BYTES, clock)

    def start(self) -> None:
        """Read nothing."""

    def rules(self, user: User, namespace: str) -> Rules:
        """Return that nobody can list what another server would allow."""
        return Rules(incomplete=True, problems=["webhook authorizer does not support user rule resolution"])

    def authorize(self, user: User, info: RequestInfo) -> Verdict | Awaitable[Verdict]:
        """Return the verdict: at once if it is remembered or not asked for."""
        asked = access_review.spec(user, info)
        if self._conditions:
            try:
                if not match_conditions.matches(self._conditions, access_review.visible(asked)):
                    self._count(self._metrics.exclusions)
                    return NO_OPINION
            except CelError as error:
                self._count(self._metrics.match_errors)
                return self._failed(str(error))
        key = orjson.dumps(asked)
        known = self._answers.get(key)
        if known is not None:
            return known[0]
        return self._ask(asked, key)

    async def _ask(self, asked: dict[str, Any], key: bytes) -> Verdict:
        begin, outcome = self._clock(), "success"
        try:
            status = await self._reviewer.ask(asked)
        except ReviewFailed as error:
            outcome = error.outcome
            log.error("Failed to make webhook authorizer request: %s", error)
            if not self._denies:
                self._metrics.opened(self.webhook, outcome)
            return self._failed(str(error))
        finally:
            self._metrics.called(self.webhook, outcome, self._clock() - begin)
        allowed, denied = status.get("allowed") is True, status.get("denied") is True
        reason = status.get("reason")
        reason = reason if isinstance(reason, str) else ""
        if allowed and denied:
            verdict = Verdict(denied=True, reason=reason, problem=_BOTH)
        else:
            verdict = Verdict(allowed, denied, reason)
        if len(key) <= access_review.MOST_CACHED:
            self._answers.put(key, verdict, len(reason), self._seconds[allowed])
        return verdict

    def _failed(self, problem: str) -> Verdict:
        return Verdict(denied=self._denies, problem=problem)

    def _count(self, table: dict[str, int]) -> None:
        table[self.webhook] = table.get(self.webhook, 0) + 1
