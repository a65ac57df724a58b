"""Kinds of the group apiregistration.k8s.io."""

GROUP = "apiregistration.k8s.io"
