"""Cluster role bindings."""

from pybernetes.tools.kubectl.describe._rbac import binding as describe

GROUP = "rbac.authorization.k8s.io"

__all__ = ["describe"]
