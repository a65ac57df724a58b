"""The commands of config."""
