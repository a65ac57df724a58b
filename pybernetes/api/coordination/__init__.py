"""Kinds of the group coordination.k8s.io."""

GROUP = "coordination.k8s.io"
