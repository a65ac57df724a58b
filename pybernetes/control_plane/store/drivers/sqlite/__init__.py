"""The sqlite driver: a store in one file of a data directory, the default."""
