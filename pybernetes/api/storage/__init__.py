"""Kinds of the storage.k8s.io group: what provisioners and attachers agree on with the cluster."""

GROUP = "storage.k8s.io"
