"""Errors that a client raises.

OSError
└── ConnectionError          the server went away (also TimeoutError)
    └── NotSent              the server cannot be reached: nothing has happened
StatusError                  the server said no: code, reason, message, details
├── NotFound                 404
├── AlreadyExists            409
├── Conflict                 409, somebody else was faster
├── Expired                  410, list again
├── Invalid                  422, the causes name the fields
├── Forbidden                403
├── Unauthorized             401
└── TooManyRequests          429
"""

from __future__ import annotations

from typing import Any

from pybernetes.api.errors import StatusError


class NotSent(ConnectionError):
    """No connection could be made, so nothing was sent."""


class NotFound(StatusError):
    """There is no such object, or no such kind."""


class AlreadyExists(StatusError):
    """An object of that name is there already."""


class Conflict(StatusError):
    """The object was changed since it was read."""


class Expired(StatusError):
    """The history from that resourceVersion on is gone: list again."""


class Invalid(StatusError):
    """The object does not pass validation."""


class Forbidden(StatusError):
    """The user may not do that."""


class Unauthorized(StatusError):
    """The server does not know the user."""


class TooManyRequests(StatusError):
    """The server is busy, or a disruption budget does not allow an eviction now."""


_CLASSES: tuple[type[StatusError], ...] = (
    NotFound, AlreadyExists, Conflict, Expired, Invalid, Forbidden, Unauthorized, TooManyRequests,
)  # fmt: skip
_BY_REASON = {**{error.__name__: error for error in _CLASSES}, "Gone": Expired}
_BY_CODE: dict[int, tuple[type[StatusError], str]] = {
    400: (StatusError, "BadRequest"),
    401: (Unauthorized, "Unauthorized"),
    403: (Forbidden, "Forbidden"),
    404: (NotFound, "NotFound"),
    405: (StatusError, "MethodNotAllowed"),
    406: (StatusError, "NotAcceptable"),
    409: (Conflict, "Conflict"),
    410: (Expired, "Gone"),
    415: (StatusError, "UnsupportedMediaType"),
    422: (Invalid, "Invalid"),
    429: (TooManyRequests, "TooManyRequests"),
    500: (StatusError, "InternalError"),
    503: (StatusError, "ServiceUnavailable"),
    504: (StatusError, "Timeout"),
}


def from_answer(code: int, value: Any) -> StatusError:
    """Return the error for an answer that is not a success: a Status, or whatever a proxy said instead."""
    if isinstance(value, dict) and value.get("kind") == "Status":
        reason = value.get("reason", "")
        code = value.get("code") or code
        cls = _BY_REASON.get(reason) or (
            _BY_CODE.get(code, (StatusError, ""))[0] if not reason else StatusError
        )
        return cls(code, reason, value.get("message") or f"the server answered {code}", value.get("details"))
    cls, reason = _BY_CODE.get(code, (StatusError, ""))
    text = value.strip() if isinstance(value, str) else ""
    return cls(code, reason, text[:2048] or f"the server answered {code}")
