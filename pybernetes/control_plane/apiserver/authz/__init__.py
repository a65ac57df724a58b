"""Authorization: the modes, the chain that asks them, and what the two big ones, RBAC and Node, work with."""
