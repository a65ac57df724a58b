"""Namespace: everything in a deleted namespace is deleted."""
