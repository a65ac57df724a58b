"""What goes wrong with a federation, for people."""

from __future__ import annotations


class FederationError(Exception):
    """Something cannot be done; the text says why."""
