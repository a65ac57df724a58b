"""Drills: something is killed in a local cluster with several control planes while clients write and watch."""
