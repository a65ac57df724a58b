"""Answers of the server that controllers take for what they are."""

from __future__ import annotations

from pybernetes.client.errors import StatusError


def is_namespace_terminating(error: StatusError) -> bool:
    """Whether nothing can be made because the namespace is going, so that there is nothing to try again."""
    causes = (error.details or {}).get("causes") or ()
    return any(cause.get("reason") == "NamespaceTerminating" for cause in causes)
