"""What every component may use: no Kubernetes knowledge."""
