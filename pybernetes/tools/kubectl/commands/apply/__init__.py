"""The commands of apply."""
