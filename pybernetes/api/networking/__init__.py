"""Kinds of the networking.k8s.io group: ingress, policies and the addresses of services."""

GROUP = "networking.k8s.io"
