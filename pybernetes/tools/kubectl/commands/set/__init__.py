"""The commands of set."""
