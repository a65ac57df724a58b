"""The store drivers: one file or folder each, with a ``DRIVER`` that names it, declares its flags and opens it."""
