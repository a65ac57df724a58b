"""Objects and namespaces that are being deleted."""

from __future__ import annotations

from collections.abc import Awaitable

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound, StatusError
from pybernetes.client.refs import Kindlike
from pybernetes.runtime.events import Recorder


def is_being_deleted(obj: Object) -> bool:
    """Return whether an object is being deleted."""
    return "deletionTimestamp" in obj["metadata"]


def is_namespace_terminating(error: StatusError) -> bool:
    """Return whether a write was refused because its namespace is being deleted, so that a retry is useless."""
    causes = (error.details or {}).get("causes") or ()
    return any(cause.get("reason") == "NamespaceTerminating" for cause in causes)


async def delete_if_present(client: Client, kind: Kindlike, obj: Object) -> None:
    """Delete an object, but not another one of its name; it may be gone already."""
    meta = obj["metadata"]
    try:
        await client.delete(kind, meta["name"], meta.get("namespace", ""), uid=meta["uid"])
    except NotFound:
        pass


async def report_deletion(
    deletion: Awaitable[object], recorder: Recorder, owner: Object, *, failed: str, done: str
) -> None:
    """Await a deletion and report at the owner how it went; what is gone already is not worth a word."""
    try:
        await deletion
    except NotFound:
        return
    except StatusError as error:
        recorder.warning(owner, "FailedDelete", f"{failed}: {error}")
        raise
    recorder.normal(owner, "SuccessfulDelete", done)
