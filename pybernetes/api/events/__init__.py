"""Kinds of the group events.k8s.io."""

GROUP = "events.k8s.io"
