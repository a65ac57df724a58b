"""Kinds of the group resource.k8s.io: devices that pods ask for (dynamic resource allocation)."""

GROUP = "resource.k8s.io"
