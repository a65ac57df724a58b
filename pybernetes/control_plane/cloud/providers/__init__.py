"""The clouds that come with Pybernetes, one to a file; each has a ``PROVIDER``."""
