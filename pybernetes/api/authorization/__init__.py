"""Kinds of the group authorization.k8s.io: asked, answered, never stored."""

GROUP = "authorization.k8s.io"
