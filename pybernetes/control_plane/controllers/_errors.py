"""Answers of the server that controllers take for what they are."""

from __future__ import annotations

from pybernetes.client.errors import StatusError


def is_namespace_terminating(error: StatusError) -> bool:
    """Return whether a write was refused because its namespace is being deleted, so that a retry is useless."""
    causes = (error.details or {}).get("causes") or ()
    return any(cause.get("reason") == "NamespaceTerminating" for cause in causes)
