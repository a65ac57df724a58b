"""Garbage collector: objects without owners are deleted."""
