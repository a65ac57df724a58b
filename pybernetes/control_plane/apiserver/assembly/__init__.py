"""A server put together from its parts: flags, settings, start and stop, what must exist."""
