"""The kinds of the multi-cluster services API, one to a file, as definitions that the clusters serve."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.lib.discover import discover


def definitions() -> list[Object]:
    """Return the definitions of all kinds."""
    return list(discover(__name__, "DEFINITION").values())
