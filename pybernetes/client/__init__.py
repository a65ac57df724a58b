"""Talks to a Kubernetes API server: over HTTPS, or within the process.

Layers: imports ``lib`` and ``api`` only. ``docs/client.md`` is the guide. The names below are imported when they are
first asked for: kubectl takes ``kubeconfig_files`` from here and must not wait for the rest.
"""

TYPE_CHECKING = False  # typing's own costs time to import
if TYPE_CHECKING:
    from pybernetes.api.resource import Object
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
    from pybernetes.client.transport import Event, Transport
    from pybernetes.client.watch import Watch

_MODULES = {
    "api.resource": ("Object",),
    "client.client": ("Client", "Page", "copy"),
    "client.errors": ("AlreadyExists", "Conflict", "Expired", "Forbidden", "Invalid", "NotFound", "StatusError",
               "TooManyRequests", "Unauthorized"),
    "client.refs": ("Ref",),
    "client.transport": ("Event", "Transport"),
    "client.watch": ("Watch",),
}  # fmt: skip
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


def __getattr__(name: str) -> object:
    """Import a name of this package when it is first asked for."""
    from importlib import import_module

    for module, names in _MODULES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"pybernetes.{module}"), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
