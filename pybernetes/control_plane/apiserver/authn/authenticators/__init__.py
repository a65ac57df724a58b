"""The ways of proving who one is, one per file."""
