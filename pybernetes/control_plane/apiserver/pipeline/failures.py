"""Errors as answers: a Status, never a traceback, in the form that the client reads."""

from __future__ import annotations

import logging

import orjson

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.codec import negotiation
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage import damage
from pybernetes.control_plane.store.protocol import (
    CannotSeal,
    Damaged,
    NoSpace,
    StoreError,
    Unanswered,
    Unavailable,
)
from pybernetes.lib.http.messages import Response

log = logging.getLogger(__name__)
_REASONS = {400: "BadRequest", 413: "RequestEntityTooLarge"}
_SAFE = frozenset({"GET", "HEAD"})
_RETRY_SECONDS = 1
_TOO_DEEP = "Recursion limit reached"  # how the JSON library says it


def failure(error: Exception, request: Request) -> Response:
    """Return the answer to an error."""
    status = _as_status(error, request.method in _SAFE)
    body = status.body()
    token = getattr(status, "continue_token", None)
    if token:
        body["metadata"]["continue"] = token
    headers: tuple[tuple[bytes, bytes], ...] = ()
    if status.retry_after:
        headers = ((b"Retry-After", str(status.retry_after).encode()),)
    if status.code == 403:
        headers = ((b"X-Content-Type-Options", b"nosniff"),)
    form = negotiation.for_errors(request)
    return Response(negotiation.encode(body, form), status.code, form.media.encode(), headers)


def _as_status(error: Exception, safe: bool) -> errors.StatusError:
    if isinstance(error, errors.StatusError):
        return error
    if isinstance(error, Damaged):
        return damage.status(error)
    if isinstance(error, CannotSeal):
        return errors.internal(str(error))
    if isinstance(error, NoSpace):
        return errors.StatusError(500, "", str(error))
    if isinstance(error, StoreError):
        text = f"storage is (re)initializing or unreachable: {error}"
        # Who gets 503 may ask again: nothing has happened. A write without an answer may have.
        if isinstance(error, Unanswered) and not safe:
            return errors.timeout(text, _RETRY_SECONDS)
        return errors.unavailable(text, _RETRY_SECONDS if isinstance(error, Unavailable) else 0)
    if isinstance(error, RecursionError) or _TOO_DEEP in str(error):
        return errors.bad_request("the object is nested too deeply")
    log.error("a request failed", exc_info=error)
    return errors.internal(f"{type(error).__name__}: {error}")


def refusal(status: int, message: str) -> Response:
    """Return the Status of a request that could not be read at all."""
    error = (
        errors.too_large(message)
        if status == 413
        else errors.StatusError(status, _REASONS.get(status, ""), message)
    )
    return Response(orjson.dumps(error.body(), option=orjson.OPT_APPEND_NEWLINE), status)
