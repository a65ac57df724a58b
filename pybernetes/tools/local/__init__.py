"""Clusters on this machine."""
