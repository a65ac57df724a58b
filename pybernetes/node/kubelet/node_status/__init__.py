"""The node's own object: what the machine has, what is left for pods, how the node is, and its heartbeat."""
