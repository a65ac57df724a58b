"""audit: notes what is asked, by whom, and what becomes of it.

``audit`` stands behind authentication, since how much is noted depends on who asks. ``audit_refused`` stands in front of
it, for those who could not say who they are.
"""

from __future__ import annotations

from collections.abc import Awaitable

from pybernetes.control_plane.apiserver.audit.auditor import Auditor
from pybernetes.control_plane.apiserver.audit.trail import Done, all_done
from pybernetes.control_plane.apiserver.pipeline.step import Handler, Step, after, answered
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.http.server_connection import Answer
from pybernetes.lib.http.stream import Stream
from pybernetes.lib.http.upgrade import Upgrade


def audit(auditor: Auditor) -> Step:
    """Return the step that opens an audit event and completes it."""

    def note_answer(request: Request, answer: Answer, at_once: bool) -> Answer | Awaitable[Answer]:
        """Note an answer, and its end unless it goes on; the client waits for backends that insist."""
        trail = request.audit
        assert trail is not None
        trail.answered(answer)
        notes: list[Done] = []
        if request.request_info.long_running:
            notes.append(trail.note("ResponseStarted"))
        if isinstance(answer, Stream):
            answer.on_end = trail.complete
        elif isinstance(answer, Upgrade) and request.local is None:
            request.on_connection_end = trail.complete
        else:
            notes.append(trail.complete())
        return _once_noted(answer, notes)

    def note_end(request: Request) -> None:
        if request.audit is not None:
            request.audit.complete()

    async def require(noted: Awaitable[bool]) -> None:
        auditor.require(await noted)

    def step(following: Handler) -> Handler:
        def receive(request: Request) -> Answer | Awaitable[Answer]:
            assert request.audit is not None
            noted = request.audit.note("RequestReceived")
            if not isinstance(noted, bool):
                return after(require(noted), following, request)
            auditor.require(noted)
            return following(request)

        def handle(request: Request) -> Answer | Awaitable[Answer]:
            request.audit = auditor.begin(request)
            if request.audit is None:
                return following(request)
            return answered(receive, request, note_answer, note_end)

        return handle

    return step


def audit_refused(auditor: Auditor) -> Step:
    """Return the step that notes the requests of those who could not be authenticated."""

    def note_refusal(request: Request, answer: Answer, at_once: bool) -> Answer | Awaitable[Answer]:
        trail = auditor.begin(request) if request.user is None else None
        if trail is None:
            return answer
        trail.answered(answer)
        return _once_noted(answer, [trail.note("ResponseStarted")])

    def step(following: Handler) -> Handler:
        def handle(request: Request) -> Answer | Awaitable[Answer]:
            return answered(following, request, note_refusal)

        return handle

    return step


def _once_noted(answer: Answer, notes: list[Done]) -> Answer | Awaitable[Answer]:
    waiting = all_done(notes)
    return answer if waiting is None else _wait(waiting, answer)


async def _wait(waiting: Awaitable[object], answer: Answer) -> Answer:
    await waiting
    return answer
