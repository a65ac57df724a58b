"""The loops of the cloud controller manager, one to a file; each has a ``CONTROLLER``."""
