"""The authorizers that are switched on, asked in their order: the first with an opinion decides."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Sequence

from pybernetes.control_plane.apiserver.authn.user import MASTERS, User
from pybernetes.control_plane.apiserver.authz.authorizer import Authorizer
from pybernetes.control_plane.apiserver.authz.verdict import ALLOWED, NO_OPINION, Rules, Verdict, listed
from pybernetes.control_plane.apiserver.authz.webhook.metrics import WebhookAuthorizationMetrics
from pybernetes.control_plane.apiserver.authz.webhook.webhook_authorizer import WebhookAuthorizer
from pybernetes.control_plane.apiserver.request_info import RequestInfo
from pybernetes.lib.metrics.exposition import Exposition

_DECISIONS = "apiserver_authorization_decisions_total"


class Authorization:
    """Asks one authorizer after the other; the group ``system:masters`` may do everything without being asked for."""

    def __init__(self, authorizers: Sequence[Authorizer] = ()) -> None:
        self.authorizers = tuple(authorizers)
        self.webhook_metrics = WebhookAuthorizationMetrics()
        # How often which authorizer, by mode and name, decided, and that something is allowed.
        self._decisions: dict[tuple[str, str, bool], int] = {}

    def replace(self, authorizers: Sequence[Authorizer]) -> None:
        """Ask others from now on; questions that are under way are answered by those whom they began with."""
        self.authorizers = tuple(authorizers)

    def start(self) -> None:
        """Let every authorizer read what it needs from the store."""
        for authorizer in self.authorizers:
            authorizer.start()

    def authorize(self, user: User, info: RequestInfo) -> Verdict | Awaitable[Verdict]:
        """Return the verdict on a request, at once unless an authorizer takes time."""
        if MASTERS in user.groups:
            return ALLOWED
        return self._ask(user, info, self.authorizers, 0, [], [])

    def _ask(
        self,
        user: User,
        info: RequestInfo,
        chain: tuple[Authorizer, ...],
        position: int,
        reasons: list[str],
        problems: list[str],
    ) -> Verdict | Awaitable[Verdict]:
        while position < len(chain):
            authorizer = chain[position]
            verdict = authorizer.authorize(user, info)
            if not isinstance(verdict, Verdict):
                return self._later(user, info, chain, position, reasons, problems, verdict)
            if verdict.allowed or verdict.denied:
                self._count(authorizer, verdict)
                return verdict
            _note(reasons, problems, authorizer, verdict)
            position += 1
        if problems:
            return Verdict(reason="\n".join(reasons), problem=listed(problems))
        return Verdict(reason="\n".join(reasons)) if reasons else NO_OPINION

    async def _later(
        self,
        user: User,
        info: RequestInfo,
        chain: tuple[Authorizer, ...],
        position: int,
        reasons: list[str],
        problems: list[str],
        waiting: Awaitable[Verdict],
    ) -> Verdict:
        verdict = await waiting
        if verdict.allowed or verdict.denied:
            self._count(chain[position], verdict)
            return verdict
        _note(reasons, problems, chain[position], verdict)
        following = self._ask(user, info, chain, position + 1, reasons, problems)
        return await following if inspect.isawaitable(following) else following

    def _count(self, authorizer: Authorizer, verdict: Verdict) -> None:
        mode = authorizer.name
        name = authorizer.webhook if isinstance(authorizer, WebhookAuthorizer) else mode.lower()
        key = mode, name, verdict.allowed
        self._decisions[key] = self._decisions.get(key, 0) + 1

    def render(self, out: Exposition) -> None:
        """Write the metrics of all authorizers."""
        out.family(
            _DECISIONS, "counter", "Terminal decisions of authorizers, by type, name and what was decided."
        )
        for (mode, name, allowed), count in sorted(self._decisions.items()):
            decision = "allowed" if allowed else "denied"
            out.sample(_DECISIONS, [("decision", decision), ("name", name), ("type", mode)], count)
        self.webhook_metrics.render(out)

    def rules(self, user: User, namespace: str) -> Rules:
        """Return what the user may do in a namespace, from all authorizers."""
        result = Rules()
        for authorizer in self.authorizers:
            own = authorizer.rules(user, namespace)
            result.rules += own.rules
            result.problems += own.problems
            result.incomplete |= own.incomplete
        return result


def _note(reasons: list[str], problems: list[str], authorizer: Authorizer, verdict: Verdict) -> None:
    if verdict.problem:
        problems.append(verdict.problem)
    if verdict.reason:
        reasons.append(f"{authorizer.name.lower()}: {verdict.reason}")
