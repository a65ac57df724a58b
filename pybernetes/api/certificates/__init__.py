"""Kinds of the group certificates.k8s.io."""

GROUP = "certificates.k8s.io"
