"""Talks to a Kubernetes API server: over HTTPS, or within the process.

Layers: imports ``lib`` and ``api`` only. ``docs/client.md`` is the guide.
"""

from pybernetes.client.client import Client, Page, copy
from pybernetes.client.errors import (
    AlreadyExists,
    Conflict,
    Expired,
    Forbidden,
    Invalid,
    NotFound,
    StatusError,
    TooManyRequests,
    Unauthorized,
)
from pybernetes.client.refs import Ref
from pybernetes.client.transport import Event, Object, Transport
from pybernetes.client.watch import Watch

__all__ = [
    "AlreadyExists",
    "Client",
    "Conflict",
    "Event",
    "Expired",
    "Forbidden",
    "Invalid",
    "NotFound",
    "Object",
    "Page",
    "Ref",
    "StatusError",
    "TooManyRequests",
    "Transport",
    "Unauthorized",
    "Watch",
    "copy",
]
