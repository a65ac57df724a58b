"""The clusters of a federation: connections to them, and what is remembered of their objects."""
