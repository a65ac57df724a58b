"""Roles and bindings: compiled, indexed, and compared."""
