"""kubectl: the command line of Kubernetes. Nothing heavy is imported before it is needed; see docs/kubectl.md."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # in the place of typing's, which costs time to import

if TYPE_CHECKING:
    from typing import Any


def import_named(module: str) -> Any:
    """Import a module and return it."""
    __import__(module)  # importlib's function would have to be imported itself
    return sys.modules[module]
