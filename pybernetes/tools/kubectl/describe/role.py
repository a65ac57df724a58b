"""Roles."""

from pybernetes.tools.kubectl.describe._rbac import role as describe

GROUP = "rbac.authorization.k8s.io"

__all__ = ["describe"]
