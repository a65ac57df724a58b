"""Kinds of the group rbac.authorization.k8s.io."""

GROUP = "rbac.authorization.k8s.io"
