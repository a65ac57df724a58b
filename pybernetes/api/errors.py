"""Errors as clients see them: every one is a ``Status`` object with a code and a reason.

One exception, ``StatusError``, and one function for each reason that Kubernetes knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pybernetes.api.field import FieldError
from pybernetes.api.text import go_format

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


# How long the texts of one report may be together: an error can show a value as large as what was sent, and upstream
# shows a whole list once for each of its items that is wrong.
MAX_REPORT = 256 << 10


class StatusError(Exception):
    """An error that is answered with a ``Status`` body."""

    def __init__(self, code: int, reason: str, message: str, details: Object | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details

    def body(self) -> Object:
        """Return the ``Status`` object that is sent."""
        status: Object = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
        }
        if not self.reason:
            del status["reason"]
        if self.details is not None:
            status["details"] = self.details
        status["code"] = self.code
        return status

    @property
    def retry_after(self) -> int:
        """Seconds after which the client may try again, or 0."""
        return (self.details or {}).get("retryAfterSeconds", 0)


def qualified(group: str, name: str) -> str:
    """Return a resource or kind with its group, as messages name it: ``deployments.apps``."""
    return f"{name}.{group}" if group else name


def _details(group: str, kind: str, name: str = "", **more: Any) -> Object:
    details: Object = {}
    if name:
        details["name"] = name
    if group:
        details["group"] = group
    if kind:
        details["kind"] = kind
    details.update(more)
    return details


def not_found(group: str, resource: str, name: str) -> StatusError:
    message = f"{qualified(group, resource)} {go_format.quote(name)} not found"
    return StatusError(404, "NotFound", message, _details(group, resource, name))


def no_such_resource() -> StatusError:
    """Return the answer for a path that names no resource."""
    return StatusError(404, "NotFound", "the server could not find the requested resource", {})


def already_exists(group: str, resource: str, name: str) -> StatusError:
    message = f"{qualified(group, resource)} {go_format.quote(name)} already exists"
    return StatusError(409, "AlreadyExists", message, _details(group, resource, name))


def generate_name_conflict(group: str, resource: str, name: str) -> StatusError:
    message = (
        f"{qualified(group, resource)} {go_format.quote(name)} already exists, "
        "the server was not able to generate a unique name for the object"
    )
    return StatusError(409, "AlreadyExists", message, _details(group, resource, name, retryAfterSeconds=1))


def conflict(group: str, resource: str, name: str, why: str) -> StatusError:
    message = f"Operation cannot be fulfilled on {qualified(group, resource)} {go_format.quote(name)}: {why}"
    return StatusError(409, "Conflict", message, _details(group, resource, name))


MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


def modified(group: str, resource: str, name: str) -> StatusError:
    """Return the conflict of a stale resourceVersion."""
    return conflict(group, resource, name, MODIFIED)


def forbidden(group: str, resource: str, name: str, why: str) -> StatusError:
    if not resource:
        message = f"forbidden: {why}"
    elif not name:
        message = f"{qualified(group, resource)} is forbidden: {why}"
    else:
        message = f"{qualified(group, resource)} {go_format.quote(name)} is forbidden: {why}"
    return StatusError(403, "Forbidden", message, _details(group, resource, name))


def invalid(group: str, kind: str, name: str, errors: Sequence[FieldError]) -> StatusError:
    """Return the answer to an object that failed validation; the causes name each field."""
    unique: dict[str, FieldError] = {}
    size = 0
    for error in errors:
        text = str(error)
        unique[text] = error
        size += len(text)
        if size > MAX_REPORT:
            break
    texts = list(unique)
    listed = texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"
    message = f"{qualified(group, kind)} {go_format.quote(name)} is invalid"
    if texts:
        message += ": " + listed
    causes = [error.cause() for error in unique.values()]
    return StatusError(422, "Invalid", message, _details(group, kind, name, causes=causes))


def bad_request(message: str) -> StatusError:
    return StatusError(400, "BadRequest", message)


def nameless(name: str) -> StatusError:
    """Return the answer to a body that does not say the name that its path has."""
    return bad_request(
        f"the name of the object ({name} based on URL) was undeterminable: name must be provided"
    )


def unauthorized(message: str = "Unauthorized") -> StatusError:
    return StatusError(401, "Unauthorized", message)


def method_not_allowed() -> StatusError:
    """Return the answer for a path that exists, asked with a method that it does not have."""
    return StatusError(
        405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {}
    )


def not_acceptable(offered: Sequence[str]) -> StatusError:
    message = "only the following media types are accepted: " + ", ".join(offered)
    return StatusError(406, "NotAcceptable", message)


def unsupported_media_type(offered: Sequence[str]) -> StatusError:
    message = "the body of the request was in an unknown format - accepted media types include: " + ", ".join(
        offered
    )
    return StatusError(415, "UnsupportedMediaType", message)


def expired(message: str) -> StatusError:
    return StatusError(410, "Expired", message)


def gone(message: str) -> StatusError:
    return StatusError(410, "Gone", message)


def too_many_requests(message: str, retry_after: int = 1, **details: Any) -> StatusError:
    return StatusError(429, "TooManyRequests", message, {"retryAfterSeconds": retry_after, **details})


def too_large(message: str) -> StatusError:
    return StatusError(413, "RequestEntityTooLarge", f"Request entity too large: {message}")


def timeout(message: str, retry_after: int = 1) -> StatusError:
    details = {"retryAfterSeconds": retry_after} if retry_after else None
    return StatusError(504, "Timeout", f"Timeout: {message}", details)


def too_large_resource_version(wanted: int, current: int, retry_after: int = 1) -> StatusError:
    """Return the answer to a read of a version that has not happened yet."""
    text = f"Too large resource version: {wanted}, current: {current}"
    details = {
        "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
        "retryAfterSeconds": retry_after,
    }
    return StatusError(504, "Timeout", f"Timeout: {text}", details)


def unavailable(message: str, retry_after: int = 0) -> StatusError:
    details = {"retryAfterSeconds": retry_after} if retry_after else None
    return StatusError(503, "ServiceUnavailable", message, details)


def internal(message: str) -> StatusError:
    details = {"causes": [{"message": message}]}
    return StatusError(500, "InternalError", f"Internal error occurred: {message}", details)
