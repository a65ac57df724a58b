"""TokenReview: whose token is this?"""

from __future__ import annotations

import inspect
from typing import Any

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.authn.authenticator import AuthenticatedToken, InvalidCredentials
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.virtual_resources import _access
from pybernetes.lib.http.messages import Response


async def handle(context: ServerContext, request: Request, kind: Kind) -> Response:
    """Ask those who know tokens."""
    review = await _access.read(context, request, kind)
    spec = review.get("spec", {})
    token = spec.get("token", "")
    if not token:
        raise errors.bad_request("token is required for TokenReview in authentication")
    authentication = context.authentication
    audiences = tuple(spec.get("audiences") or ()) or authentication.audiences
    status: dict[str, Any] = {}
    try:
        # Of a text with spaces only the first word is the token, as in a header.
        answer = authentication.bearer.find(token.strip().split(" ", 1)[0].encode(), audiences)
        known: AuthenticatedToken = await answer if inspect.isawaitable(answer) else answer
    except InvalidCredentials as problem:
        status |= {"user": {}, "error": str(problem)}
    else:
        status |= {"authenticated": True, "user": known.user.info()}
        if known.audiences:
            status["audiences"] = list(known.audiences)
    review["status"] = status
    return _access.answer(context, request, kind, review)
