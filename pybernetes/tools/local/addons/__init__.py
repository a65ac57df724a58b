"""What runs on a local cluster beside the control plane and the nodes, and the objects that are applied for it."""
