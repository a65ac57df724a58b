"""A federation of local clusters: a host that runs the control plane, and members."""
