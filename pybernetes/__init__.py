"""Pybernetes: Kubernetes written in Python."""

__version__ = "0.1.0"
KUBERNETES_VERSION = "v1.37.0"
