"""Patches: three-way merges, the last applied configuration, overrides."""
