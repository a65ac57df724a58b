"""The commands of cluster-info."""
