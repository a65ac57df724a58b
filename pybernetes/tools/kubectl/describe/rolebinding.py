"""Role bindings."""

from pybernetes.tools.kubectl.describe._rbac import binding as describe

__all__ = ["describe"]
