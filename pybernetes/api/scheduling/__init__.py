"""Kinds of the group scheduling.k8s.io."""

GROUP = "scheduling.k8s.io"
