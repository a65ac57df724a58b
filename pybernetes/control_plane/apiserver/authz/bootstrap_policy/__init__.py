"""The roles and bindings that every cluster has, and their upkeep."""
