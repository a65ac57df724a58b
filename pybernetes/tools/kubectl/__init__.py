"""kubectl: the command line of Kubernetes. Nothing heavy is imported before it is needed; see docs/kubectl.md."""
