"""Flags, their groups and shell completion."""
