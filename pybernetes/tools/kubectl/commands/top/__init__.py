"""The commands of top."""
