"""flow control: a request waits for its turn, and holds a seat until it is answered."""

from __future__ import annotations

import time
from collections.abc import Awaitable

from pybernetes.control_plane.apiserver.flowcontrol.dispatcher import Dispatcher
from pybernetes.control_plane.apiserver.flowcontrol.priority_level import Rejected, Ticket
from pybernetes.control_plane.apiserver.pipeline.step import Handler, Step, answered, at_hand
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.http.messages import Response
from pybernetes.lib.http.sending import LARGE
from pybernetes.lib.http.server_connection import Answer

_TOO_MANY = Response(
    b"Too many requests, please try again later.\n",
    429,
    b"text/plain; charset=utf-8",
    ((b"Retry-After", b"1"), (b"X-Content-Type-Options", b"nosniff")),
)


def flow_control(dispatcher: Dispatcher) -> Step:
    """Return the step that lets a request pass, has it wait, or sends it away with 429."""

    def give_back(request: Request, answer: Answer, at_once: bool) -> Answer:
        """Give the seat to the next; a stream gives it back when it opens, a large answer when the client has it."""
        ticket = request.ticket
        if ticket is None:  # the client is gone
            return answer
        if isinstance(answer, Response) and answer.size >= LARGE:
            ticket.level.answering(ticket)
            return answer
        request.ticket = None
        at_once = at_once and ticket.waiter is None
        ticket.level.finish(ticket, time.monotonic() - request.started, at_once=at_once)
        return answer

    def abandon(request: Request) -> None:
        if request.ticket is not None:
            request.ticket.level.abandon(request.ticket)

    def step(following: Handler) -> Handler:
        async def wait(request: Request, ticket: Ticket) -> Answer:
            assert ticket.waiter is not None
            try:
                await ticket.waiter
            except Rejected:
                ticket.level.waited(ticket.schema, time.monotonic() - request.started, False)
                return _TOO_MANY
            except BaseException:  # the client has gone, or the time is up
                ticket.level.abandon(ticket)
                raise
            now = time.monotonic()
            request.aside().queued += now - request.started
            ticket.level.waited(ticket.schema, now - request.started, True)
            request.started = now
            request.ticket = ticket
            return await at_hand(answered(following, request, give_back, abandon))

        def handle(request: Request) -> Answer | Awaitable[Answer]:
            try:
                ticket = dispatcher.arrive(request)
            except Rejected:
                return _TOO_MANY
            if ticket is None:
                return following(request)
            if ticket.waiter is not None:
                return wait(request, ticket)
            request.ticket = ticket
            return answered(following, request, give_back, abandon)

        return handle

    return step
