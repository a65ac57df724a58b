"""May they? The chain of authorizers, and what the two big ones, RBAC and Node, work with."""
