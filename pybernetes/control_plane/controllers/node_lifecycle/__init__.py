"""Node lifecycle: silent and unhealthy nodes are tainted, zone by zone."""
