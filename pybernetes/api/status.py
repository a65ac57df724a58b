"""What the status of a new object begins with."""

from __future__ import annotations

from pybernetes.api.resource import Object


def start_empty(obj: Object) -> None:
    """Start with an empty status, which is always shown, whatever the client sent."""
    obj["status"] = {}


def default_spec_and_status(obj: Object) -> None:
    """Complete an absent spec and status, which are always shown."""
    obj.setdefault("spec", {})
    obj.setdefault("status", {})
