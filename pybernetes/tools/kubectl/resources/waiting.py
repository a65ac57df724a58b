"""Waits for objects: until they are gone, or until something is true of them. Watches, and polls for those alone who may not watch."""

from __future__ import annotations

import time
from collections.abc import Callable

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import ApiError, CommandError, not_found
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


A_WEEK = 7 * 24 * 3600.0  # what no timeout means


def until_gone(context: Context, gone: list[tuple[Info, str]], seconds: float) -> None:
    """Wait until objects do not exist, or others have their names."""
    deadline = time.monotonic() + seconds
    for info, uid in gone:

        def is_gone(value: Object | None, uid: str = uid) -> bool:
            return value is None or (bool(uid) and value["metadata"].get("uid") != uid)

        try:
            until(context, info, is_gone, deadline)
        except ApiError as error:  # not found: the definition of a custom resource went with its objects
            if error.reason not in ("Forbidden", "MethodNotAllowed", "NotFound"):
                raise


def until(
    context: Context,
    info: Info,
    condition: Callable[[Object | None], bool],
    deadline: float,
    pause: float = 0.0,
    seen: Object | None = None,
) -> Object | None:
    """Wait until a condition holds for an object (None if it does not exist) and return the object then.

    It is read by its name, and watched from there on if it must be. For a user who may read it but not watch it that is an
    error, or with a ``pause`` it is read again and again. What was ``seen`` of it just now need not be read. An object that
    has not changed for long has a version that no watch can begin at: then its list is read, whose version is of now.
    """
    client, field = context.client, f"metadata.name={info.name}"
    expired = False
    while True:
        value, version = (seen, _version(seen)) if seen else _read(context, info, expired)
        seen = None
        if condition(value):
            return value
        left = deadline - time.monotonic()
        if left <= 0:
            raise timed_out(info)
        try:
            for event in client.watch(
                info.resource, info.namespace, fields=field, resourceVersion=version, read_timeout=left,
                timeoutSeconds=max(1, int(min(left, 3600)) + 1),
            ):  # fmt: skip
                if event.get("type") == "ERROR":
                    expired = True
                    break
                value = None if event["type"] == "DELETED" else event["object"]
                if condition(value):
                    return value or event["object"]
        except TimeoutError:
            raise timed_out(info) from None
        except ApiError as error:
            if not_found(error):
                return None
            if error.reason == "Forbidden" and pause:
                time.sleep(min(pause, left))
            elif error.http_code != 410:
                raise
            expired = error.http_code == 410


def _read(context: Context, info: Info, listed: bool) -> tuple[Object | None, str | None]:
    """Return an object, or None if it is not there, and the version to watch from."""
    try:
        if listed:
            listing = context.client.list(info.resource, info.namespace, fields=f"metadata.name={info.name}")
            return next(iter(listing.get("items") or ()), None), _version(listing)
        value = context.client.get(info.resource, info.namespace, info.name)
    except ApiError as error:
        if not_found(error):
            return None, None
        raise
    return value, _version(value)


def _version(value: Object) -> str | None:
    version: str | None = (value.get("metadata") or {}).get("resourceVersion")
    return version


class TimedOut(CommandError):
    """A wait took too long."""


def timed_out(info: Info) -> CommandError:
    """Return the error of a wait that took too long."""
    return TimedOut(f"timed out waiting for the condition on {info.resource.plural}/{info.name}")
