"""Kinds of the group apiextensions.k8s.io."""

GROUP = "apiextensions.k8s.io"
