"""kubectl: the command line of Kubernetes. Nothing heavy is imported before it is needed; see docs/kubectl.md."""

TYPE_CHECKING = False  # in the place of typing's, which costs time to import
