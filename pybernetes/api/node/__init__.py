"""Kinds of the group node.k8s.io."""

GROUP = "node.k8s.io"
