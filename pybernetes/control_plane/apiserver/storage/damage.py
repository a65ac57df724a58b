"""Objects that cannot be read: what clients are told of them, and what the server does about its own.

The texts are upstream's for objects that it can neither decrypt nor decode.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.storage.kind import ROOT, Kind
from pybernetes.control_plane.store.protocol import Damaged, Record, Store

log = logging.getLogger(__name__)
# So many objects are named in the answer to a list.
_NAMED = 100
_READ_ERROR = "StorageReadError"


def text(error: Damaged, key: str) -> str:
    """Return what is said of an object that cannot be read."""
    if error.is_sealed:
        problem = f"data from the storage is not transformable revision=0: {error.problem}"
    else:
        problem = f"object not decodable revision={error.revision}: {error.problem}"
    return f"StorageError: corrupt object, Code: 7, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {problem}"


def status(error: Damaged) -> errors.StatusError:
    """Return the answer to a request that needs an object which cannot be read."""
    return errors.internal(text(error, error.key.removeprefix(ROOT.rstrip("/"))))


def list_status(kind: Kind, records: Iterable[Record]) -> errors.StatusError:
    """Return the answer to a list with objects that cannot be read: it names them."""
    resource = kind.resource
    causes = [
        {"reason": "UnexpectedServerResponse", "message": text(error, error.key), "field": error.key}
        for error in _damaged(kind, records)
    ]
    why = causes[0]["message"] if causes else "they have changed meanwhile"
    more = f" (and {len(causes) - 1} more)" if len(causes) > 1 else ""
    if len(causes) == _NAMED:
        causes.append({"reason": "TooMany", "message": "too many errors, the list is truncated"})
    name = errors.qualified(resource.group, resource.plural)
    details = {"name": "list", "kind": resource.plural, "causes": causes}
    if resource.group:
        details["group"] = resource.group
    message = f"failed to read one or more {name} from the storage: {why}{more}"
    return errors.StatusError(500, _READ_ERROR, message, details)


def watch_status(error: Damaged, store: Store) -> errors.StatusError:
    """Return what ends a watch that has come to an object which cannot be read, or to its deletion."""
    if store.get(error.key) is not None:
        return status(error)
    message = f"saw a DELETED event, but object data is corrupt - {text(error, error.key)}"
    return errors.StatusError(500, _READ_ERROR, message)


def _damaged(kind: Kind, records: Iterable[Record]) -> list[Damaged]:
    damaged: list[Damaged] = []
    for record in records:
        try:
            kind.object(record)
        except Damaged as error:
            damaged.append(error)
            if len(damaged) == _NAMED:
                break
        except errors.StatusError:
            continue  # one that waits for its webhook
    return damaged


@contextmanager
def left_alone() -> Iterator[None]:
    """Go on without an object of the server's own that cannot be read; the log names it."""
    try:
        yield
    except Damaged as error:
        log.error("left as it is: %s", error)
