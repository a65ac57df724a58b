"""The commands of auth."""
