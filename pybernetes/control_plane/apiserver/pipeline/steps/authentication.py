"""authentication: who asks."""

from __future__ import annotations

from collections.abc import Awaitable

from pybernetes.control_plane.apiserver.authn.authentication import Authentication
from pybernetes.control_plane.apiserver.pipeline.step import Handler, Step, after
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.http.server_connection import Answer


def authentication(methods: Authentication) -> Step:
    """Return the step that puts the user into the request; 401 if nobody knows the client."""

    def step(following: Handler) -> Handler:
        def handle(request: Request) -> Answer | Awaitable[Answer]:
            waiting = methods.authenticate(request)
            return following(request) if waiting is None else after(waiting, following, request)

        return handle

    return step
