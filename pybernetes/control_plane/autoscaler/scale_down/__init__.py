"""Fewer nodes: which are not needed, which pods hold theirs, and removing them."""
