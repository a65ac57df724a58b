"""Kinds of the group authentication.k8s.io: asked, answered, never stored."""

GROUP = "authentication.k8s.io"
