"""Kinds of the group flowcontrol.apiserver.k8s.io."""

GROUP = "flowcontrol.apiserver.k8s.io"
