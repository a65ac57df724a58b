"""Cluster roles."""

from pybernetes.tools.kubectl.describe._rbac import role as describe

__all__ = ["describe"]
