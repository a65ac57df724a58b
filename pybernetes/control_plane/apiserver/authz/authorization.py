"""The authorizers that are switched on, asked in their order: the first with an opinion decides."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Sequence

from pybernetes.control_plane.apiserver.authn.user import MASTERS, User
from pybernetes.control_plane.apiserver.authz.authorizer import Authorizer
from pybernetes.control_plane.apiserver.authz.verdict import ALLOWED, NO_OPINION, Rules, Verdict
from pybernetes.control_plane.apiserver.request_info import RequestInfo


class Authorization:
    """Asks one authorizer after the other; the group ``system:masters`` may do everything without being asked for."""

    def __init__(self, authorizers: Sequence[Authorizer] = ()) -> None:
        self.authorizers = tuple(authorizers)

    def start(self) -> None:
        """Let every authorizer read what it needs from the store."""
        for authorizer in self.authorizers:
            authorizer.start()

    def authorize(self, user: User, info: RequestInfo) -> Verdict | Awaitable[Verdict]:
        """Return the verdict on a request, at once unless an authorizer takes time."""
        if MASTERS in user.groups:
            return ALLOWED
        return self._ask(user, info, 0, [])

    def _ask(
        self, user: User, info: RequestInfo, position: int, reasons: list[str]
    ) -> Verdict | Awaitable[Verdict]:
        while position < len(self.authorizers):
            authorizer = self.authorizers[position]
            verdict = authorizer.authorize(user, info)
            if not isinstance(verdict, Verdict):
                return self._later(user, info, position, reasons, verdict)
            if verdict.allowed or verdict.denied:
                return verdict
            _note(reasons, authorizer, verdict)
            position += 1
        return Verdict(reason="\n".join(reasons)) if reasons else NO_OPINION

    async def _later(
        self, user: User, info: RequestInfo, position: int, reasons: list[str], waiting: Awaitable[Verdict]
    ) -> Verdict:
        verdict = await waiting
        if verdict.allowed or verdict.denied:
            return verdict
        _note(reasons, self.authorizers[position], verdict)
        following = self._ask(user, info, position + 1, reasons)
        return await following if inspect.isawaitable(following) else following

    def rules(self, user: User, namespace: str) -> Rules:
        """Return what the user may do in a namespace, from all authorizers."""
        result = Rules()
        for authorizer in self.authorizers:
            own = authorizer.rules(user, namespace)
            result.rules += own.rules
            result.problems += own.problems
            result.incomplete |= own.incomplete
        return result


def _note(reasons: list[str], authorizer: Authorizer, verdict: Verdict) -> None:
    if verdict.reason:
        reasons.append(f"{authorizer.name.lower()}: {verdict.reason}")
