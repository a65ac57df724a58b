"""Kinds of the discovery.k8s.io group: where a service's endpoints are."""

GROUP = "discovery.k8s.io"
