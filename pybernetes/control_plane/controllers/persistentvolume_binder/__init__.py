"""Persistent volume binder: claims and volumes are bound to each other."""
