"""Kinds of the group storagemigration.k8s.io."""

GROUP = "storagemigration.k8s.io"
