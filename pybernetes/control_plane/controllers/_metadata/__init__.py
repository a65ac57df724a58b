"""Watching the metadata of every kind that is served."""
