"""Encryption at rest: between what the server holds in memory and what the store keeps on a disk."""
