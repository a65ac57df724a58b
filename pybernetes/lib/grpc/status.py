"""How a call ended, in gRPC's words."""

from __future__ import annotations

from enum import IntEnum
from urllib.parse import unquote


class StatusCode(IntEnum):
    """The codes of gRPC."""

    OK = 0
    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16


class RpcError(Exception):
    """A call failed."""

    def __init__(self, code: StatusCode, details: str) -> None:
        super().__init__(f"{code.name}: {details}")
        self.code, self.details = code, details


# What a server that speaks no gRPC means by the status of HTTP.
_BY_HTTP_STATUS = {
    400: StatusCode.INTERNAL,
    401: StatusCode.UNAUTHENTICATED,
    403: StatusCode.PERMISSION_DENIED,
    404: StatusCode.UNIMPLEMENTED,
    429: StatusCode.UNAVAILABLE,
    502: StatusCode.UNAVAILABLE,
    503: StatusCode.UNAVAILABLE,
    504: StatusCode.UNAVAILABLE,
}


def not_grpc(headers: dict[bytes, bytes]) -> RpcError | None:
    """Return what is wrong with the headers of an answer; None if it is one of gRPC."""
    status = headers.get(b":status", b"")
    if status != b"200":
        number = int(status) if status.isdigit() and len(status) == 3 else 0
        code = _BY_HTTP_STATUS.get(number, StatusCode.UNKNOWN)
        return RpcError(code, f"unexpected HTTP status code received from server: {number}")
    kind = headers.get(b"content-type", b"")
    if not kind.startswith(b"application/grpc"):
        return RpcError(StatusCode.UNKNOWN, f"unexpected content-type {kind[:100]!r}")
    return None


def ending(trailers: dict[bytes, bytes]) -> RpcError | None:
    """Return the error that trailers speak of; None if the call succeeded."""
    text = trailers.get(b"grpc-status", b"")
    if text == b"0":
        return None
    try:
        code = StatusCode(int(text))
    except ValueError:
        code = StatusCode.UNKNOWN
    details = unquote(trailers.get(b"grpc-message", b"").decode("latin-1"), errors="replace")
    return RpcError(code, details)
